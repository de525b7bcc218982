import { Archive, ArrowLeft, ListChecks, Plus, SlidersHorizontal, X } from "lucide-react";
import { useMemo } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import type { SessionSummary } from "../api/types";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { sessionsTexts as t } from "../texts/sessions";
import { IconButton, MenuButton } from "../ui/buttons";
import { TextInput } from "../ui/fields";
import { useWide } from "../ui/hooks";
import { openNewSession } from "./dialogs";
import { countStates, type Grouping, type Sorting, type StateFilter } from "./list";
import css from "./PaneHead.module.css";
import { filterText, look } from "./view";

const filters = ["all", "waiting", "failed", "working", "idle", "ended"] as const satisfies readonly StateFilter[];
const groups = ["none", "dir", "state"] as const satisfies readonly Grouping[];
const sorts = ["updated", "created", "usd", "title"] as const satisfies readonly Sorting[];

interface Props {
  /** The archived sessions are shown, not the current ones. */
  archive: boolean;
  onArchive(on: boolean): void;
  /** Several are being chosen. */
  selecting: boolean;
  onSelecting(on: boolean): void;
}

/** The head of the list of sessions: its name, and what can be done with all of it. */
export function PaneHead({ archive, onArchive, selecting, onSelecting }: Props) {
  const hub = useHub();
  const view = useReadable(look);
  // Beside a session, that one's title is the first heading of the page.
  const Heading = useWide() ? "h2" : "h1";
  return (
    <div className={css.titles}>
      {archive && <IconButton icon={<ArrowLeft size={16} />} label={t.archive.back} onPress={() => onArchive(false)} />}
      <Heading className={css.heading}>{archive ? t.archive.title : t.pane}</Heading>
      <MenuButton
        label={t.view.button}
        icon={<SlidersHorizontal size={16} />}
        items={[
          {
            title: t.view.group,
            entries: groups.map((id) => ({
              id: `group ${id}`,
              label: t.view.groups[id],
              checked: view.group === id,
              run: () => look.set({ ...view, group: id }),
            })),
          },
          {
            title: t.view.sort,
            entries: sorts.map((id) => ({
              id: `sort ${id}`,
              label: t.view.sorts[id],
              checked: view.sort === id,
              run: () => look.set({ ...view, sort: id }),
            })),
          },
        ]}
      />
      <IconButton
        icon={selecting ? <X size={16} /> : <ListChecks size={16} />}
        label={selecting ? t.bulk.done : t.bulk.start}
        onPress={() => onSelecting(!selecting)}
      />
      {!archive && <IconButton icon={<Archive size={16} />} label={t.view.archived} onPress={() => onArchive(true)} />}
      <IconButton
        variant="primary"
        icon={<Plus size={16} />}
        label={t.create.button}
        kbd="n"
        isDisabled={!hub.can("admin")}
        reason={t.scopes.admin}
        onPress={() => openNewSession()}
      />
    </div>
  );
}

/** What narrows the list down: a text, and, but in the archive, a state. */
export function PaneFilters({ sessions, withStates }: { sessions: readonly SessionSummary[]; withStates: boolean }) {
  const view = useReadable(look);
  const text = useReadable(filterText);
  const counts = useMemo(() => countStates(sessions), [sessions]);
  return (
    <div className={css.narrow}>
      <TextInput
        type="search"
        label={t.filter.label}
        hideLabel
        placeholder={t.filter.placeholder}
        value={text}
        onChange={filterText.set}
      />
      {withStates && (
        <ToggleButtonGroup
          className={css.filters}
          aria-label={t.filter.states}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[view.states]}
          onSelectionChange={(keys) => {
            const states = filters.find((one) => keys.has(one));
            if (states) look.set({ ...view, states });
          }}
        >
          {filters
            .filter((one) => one !== "failed" || counts.failed > 0 || view.states === "failed")
            .map((one) => (
              <ToggleButton key={one} id={one} className={css.filter}>
                {t.filter[one]} {one !== "all" && counts[one] > 0 && <span className={css.count}>{counts[one]}</span>}
              </ToggleButton>
            ))}
        </ToggleButtonGroup>
      )}
    </div>
  );
}
