import { Braces, Copy, GitFork, History, Link2 } from "lucide-react";
import { type RefObject, useMemo } from "react";
import { Menu as AriaMenu, MenuItem, Popover, Text } from "react-aria-components";
import { openFork, openRewind } from "../steer";
import { type OpenSession, useHub } from "../store/hub";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import type { MenuEntry } from "../ui/buttons";
import css from "../ui/lists.module.css";
import { Kbd } from "../ui/signs";

interface RowMenuProps {
  session: OpenSession;
  item: Item;
  at: RefObject<Element | null>;
  onClose(): void;
  onCopy(item: Item): void;
  onLink(item: Item): void;
  onRaw(item: Item): void;
}

/** The menu of a row. There is one, at the button that was pressed. */
export function RowMenu({ session, item, at, onClose, onCopy, onLink, onRaw }: RowMenuProps) {
  const hub = useHub();
  const entries = useMemo(() => {
    const uuid = "uuid" in item ? item.uuid : undefined;
    const all: MenuEntry[] = [
      { id: "copy", label: t.copy, icon: <Copy size={14} />, kbd: "y", run: () => onCopy(item) },
      { id: "link", label: t.link, icon: <Link2 size={14} />, kbd: "l", isDisabled: !item.event, run: () => onLink(item) },
      { id: "raw", label: t.raw, icon: <Braces size={14} />, kbd: "r", run: () => onRaw(item) },
    ];
    if (uuid !== undefined) {
      const may = hub.can("admin");
      all.push({
        id: "fork",
        label: t.fork,
        icon: <GitFork size={14} />,
        isDisabled: !may,
        hint: may ? undefined : t.needsScope("admin"),
        run: () => openFork(session, uuid),
      });
    }
    if (item.kind === "prompt" && uuid !== undefined) {
      const may = hub.can("prompt");
      all.push({
        id: "rewind",
        label: t.rewind,
        icon: <History size={14} />,
        isDisabled: !may,
        hint: may ? undefined : t.needsScope("prompt"),
        run: () => openRewind(session, uuid),
      });
    }
    return all;
  }, [hub, session, item, onCopy, onLink, onRaw]);
  return (
    <Popover
      triggerRef={at}
      isOpen
      onOpenChange={(open) => !open && onClose()}
      placement="bottom end"
      offset={4}
      className={css.popover ?? ""}
    >
      <AriaMenu aria-label={t.actions} className={css.list ?? ""} autoFocus="first" onClose={onClose}>
        {entries.map((entry) => (
          <MenuItem
            key={entry.id}
            id={entry.id}
            textValue={entry.label}
            isDisabled={entry.isDisabled ?? false}
            className={css.item ?? ""}
            onAction={entry.run ?? (() => {})}
          >
            {entry.icon}
            <span className={css.text}>
              <Text slot="label">{entry.label}</Text>
              {entry.hint ? (
                <Text slot="description" className={css.hint}>
                  {entry.hint}
                </Text>
              ) : null}
            </span>
            {entry.kbd ? <Kbd keys={entry.kbd} /> : null}
          </MenuItem>
        ))}
      </AriaMenu>
    </Popover>
  );
}
