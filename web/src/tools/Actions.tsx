import { Copy, Ellipsis, FileJson, Link2 } from "lucide-react";
import { useRef, useState } from "react";
import { Menu, MenuItem, Popover } from "react-aria-components";
import { hasEvent, itemHref, useRaw } from "../conversation/raw";
import type { OpenSession } from "../store/hub";
import type { Tool } from "../talk/item";
import { firstText, pretty } from "../talk/json";
import { toolName } from "../talk/title";
import { toolTexts as t } from "../texts/tools";
import type { MenuEntry } from "../ui/buttons";
import { copyText } from "../ui/CopyButton";
import list from "../ui/lists.module.css";
import css from "./Actions.module.css";
import { withoutAnsi } from "./ansi";
import { ranOf } from "./bash";
import { resultText } from "./Result";

/** What one can do with a call. A plain button: many cards come by while one scrolls, and a menu is made only for the one pressed. */
export function Actions({ session, item }: { session?: OpenSession; item: Tool }) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const label = t.menu(toolName(item.name));
  return (
    <>
      <button
        ref={button}
        type="button"
        className={css.button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(true)}
      >
        <Ellipsis size={15} aria-hidden="true" />
      </button>
      {open && (
        <Popover
          triggerRef={button}
          isOpen
          onOpenChange={setOpen}
          placement="bottom end"
          offset={4}
          className={list.popover ?? ""}
        >
          <Entries session={session} item={item} label={label} onClose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function Entries(props: { session?: OpenSession; item: Tool; label: string; onClose: () => void }) {
  const raw = useRaw();
  return (
    <Menu aria-label={props.label} className={list.list ?? ""} autoFocus="first" onClose={props.onClose}>
      {entriesOf(props.session, props.item, raw).map((entry) => (
        <MenuItem key={entry.id} id={entry.id} textValue={entry.label} className={list.item ?? ""} onAction={() => entry.run?.()}>
          {entry.icon}
          {entry.label}
        </MenuItem>
      ))}
    </Menu>
  );
}

function entriesOf(session: OpenSession | undefined, item: Tool, raw: (item: Tool) => void): readonly MenuEntry[] {
  const copies = [
    { id: "command", label: t.copyCommand, text: firstText(item.input, "command") },
    { id: "path", label: t.copyPath, text: firstText(item.input, "file_path", "notebook_path") },
    { id: "output", label: t.copyOutput, text: outputOf(item) },
    { id: "input", label: t.copyInput, text: pretty(item.input, 10_000_000).text },
  ];
  const entries: MenuEntry[] = copies
    .filter((entry) => entry.text.trim() !== "")
    .map(({ id, label, text }) => ({ id, label, icon: <Copy size={14} />, run: () => void copyText(text) }));
  if (!hasEvent(item)) return entries;
  if (session) {
    entries.push({
      id: "link",
      label: t.copyLink,
      icon: <Link2 size={14} />,
      run: () => void copyText(itemHref(session.id, item)),
    });
  }
  entries.push({ id: "raw", label: t.showRaw, icon: <FileJson size={14} />, run: () => raw(item) });
  return entries;
}

/** What a tool printed, to be copied: as a person sees it, and all of it. */
function outputOf(item: Tool): string {
  if (item.name !== "Bash") return resultText(item);
  const ran = ranOf(item);
  return withoutAnsi([ran.stdout, ran.stderr].filter(Boolean).join("\n"));
}
