import { Search } from "lucide-react";
import { useState } from "react";
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { Kbd } from "../ui/signs";
import { commandGroups, useCommands } from "./commands";
import { type Found, find } from "./find";
import css from "./Palette.module.css";
import { go } from "./router";
import { setTheme } from "./theme";

interface PaletteProps {
  isOpen: boolean;
  onClose(): void;
  onHelp(): void;
}

/** Everything by its name: commands, pages, sessions, questions. */
export function Palette({ isOpen, onClose, onHelp }: PaletteProps) {
  useCommands(t.palette.theme, [
    { id: "light", label: t.theme.use(t.theme.light), run: () => setTheme("light") },
    { id: "dark", label: t.theme.use(t.theme.dark), run: () => setTheme("dark") },
    { id: "system", label: t.theme.use(t.theme.system), run: () => setTheme("system") },
  ]);
  useCommands(t.palette.pages, [
    { id: "sessions", label: t.pages.sessions, keys: "g s", run: () => go({ page: "sessions" }) },
    { id: "inbox", label: t.pages.inbox, keys: "g i", run: () => go({ page: "inbox" }) },
    { id: "search", label: t.pages.search, keys: "g f", run: () => go({ page: "search", q: "" }) },
    { id: "insight", label: t.pages.insight, keys: "g c", run: () => go({ page: "insight", tab: "costs" }) },
    { id: "rules", label: t.pages.rules, keys: "g r", run: () => go({ page: "rules" }) },
    { id: "machines", label: t.pages.machines, keys: "g m", run: () => go({ page: "machines" }) },
    { id: "settings", label: t.pages.settings, keys: "g ,", run: () => go({ page: "settings" }) },
    { id: "help", label: t.keys.title, keys: "?", run: onHelp },
  ]);
  return (
    <ModalOverlay className={css.overlay ?? ""} isOpen={isOpen} onOpenChange={(open) => !open && onClose()} isDismissable>
      <Modal className={css.modal ?? ""}>
        <Dialog aria-label={t.palette.title} className={css.dialog ?? ""}>
          <Content onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Content({ onClose }: { onClose(): void }) {
  const hub = useHub();
  const [query, setQuery] = useState("");
  const groups = useReadable(commandGroups);
  const sessions = useReadable(hub.sessions);
  const questions = useReadable(hub.questions);
  const found = find(query, groups, sessions.byId.values(), questions.list);
  return (
    <Autocomplete inputValue={query} onInputChange={setQuery}>
      <SearchField aria-label={t.palette.title} autoFocus className={css.field ?? ""}>
        <Search size={16} aria-hidden="true" />
        <Input
          className={css.input ?? ""}
          placeholder={t.palette.placeholder}
          role="combobox"
          aria-expanded="true"
          aria-haspopup="listbox"
        />
      </SearchField>
      <ListBox
        aria-label={t.palette.title}
        className={css.list ?? ""}
        items={sections(found)}
        renderEmptyState={() => <p className={css.empty}>{t.palette.empty}</p>}
      >
        {(section) => (
          <ListBoxSection id={section.name}>
            <Header className={css.header}>{section.name}</Header>
            <Collection items={section.entries}>{(entry) => <Row entry={entry} onClose={onClose} />}</Collection>
          </ListBoxSection>
        )}
      </ListBox>
    </Autocomplete>
  );
}

function Row({ entry, onClose }: { entry: Found; onClose(): void }) {
  return (
    <ListBoxItem
      id={entry.id}
      textValue={entry.label}
      className={css.item ?? ""}
      onAction={() => {
        onClose();
        entry.run();
      }}
    >
      <span className={css.label}>{entry.label}</span>
      {entry.hint && <span className={css.hint}>{entry.hint}</span>}
      {entry.keys && <Kbd keys={entry.keys} className={css.keys ?? ""} />}
    </ListBoxItem>
  );
}

function sections(found: readonly Found[]): { id: string; name: string; entries: Found[] }[] {
  const byName = new Map<string, Found[]>();
  for (const entry of found) {
    const entries = byName.get(entry.group);
    if (entries) entries.push(entry);
    else byName.set(entry.group, [entry]);
  }
  return [...byName].map(([name, entries]) => ({ id: name, name, entries }));
}
