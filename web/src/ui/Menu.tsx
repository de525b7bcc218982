import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import {
  Menu as AriaMenu,
  Header,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  type PopoverProps,
  Separator,
} from "react-aria-components";
import { Button, type ButtonProps, IconButton } from "./Button";
import { classes } from "./classes";
import { Kbd } from "./Kbd";
import css from "./List.module.css";

export interface MenuEntry {
  id: string;
  label: string;
  hint?: string;
  icon?: ReactNode;
  kbd?: string;
  danger?: boolean;
  isDisabled?: boolean;
  /** A tick before it: set it on all entries of a choice. */
  checked?: boolean;
  /** An address that it leads to, instead of run. */
  href?: string;
  run?: () => void;
}

/** Entries; null is a line between them, and a section has a heading. */
export type MenuItems = readonly (MenuEntry | null | { title: string; entries: readonly MenuEntry[] })[];

/** A menu that its child, a Button or IconButton, brings up. */
export function Menu({
  label,
  items,
  placement,
  children,
}: {
  label: string;
  items: MenuItems;
  placement?: PopoverProps["placement"];
  children: ReactElement;
}) {
  return (
    <MenuTrigger>
      {children}
      <Popover className={css.popover ?? ""} offset={4} {...(placement ? { placement } : {})}>
        <AriaMenu aria-label={label} className={css.list ?? ""}>
          {items.map((item, at) => {
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be known by
            if (item === null) return <Separator key={`line ${at}`} className={css.separator} />;
            if ("entries" in item) {
              return (
                <MenuSection key={item.title}>
                  <Header className={css.header}>{item.title}</Header>
                  {item.entries.map(entryRow)}
                </MenuSection>
              );
            }
            return entryRow(item);
          })}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

function entryRow(entry: MenuEntry) {
  return (
    <MenuItem
      key={entry.id}
      id={entry.id}
      textValue={entry.label}
      className={classes(css.item, entry.danger && css.danger)}
      isDisabled={entry.isDisabled ?? false}
      onAction={() => entry.run?.()}
      {...(entry.href ? { href: entry.href } : {})}
      {...(entry.checked ? { "data-selected": true, "aria-current": "true" as const } : {})}
    >
      {entry.checked === undefined ? (
        entry.icon
      ) : (
        <Check size={14} aria-hidden="true" visibility={entry.checked ? "visible" : "hidden"} />
      )}
      <span className={css.text}>
        <span>{entry.label}</span>
        {entry.hint && <span className={css.hint}>{entry.hint}</span>}
      </span>
      {entry.kbd && <Kbd keys={entry.kbd} />}
    </MenuItem>
  );
}

type MenuButtonProps = Pick<ButtonProps, "variant" | "size" | "icon" | "className" | "isPending"> & {
  /** The name of the button and of the menu. */
  label: string;
  items: MenuItems;
  placement?: PopoverProps["placement"];
  /** Words on the button; without them only the icon is shown. */
  children?: ReactNode;
};

/** A button that brings up a menu. */
export function MenuButton({ label, items, placement, children, icon, ...rest }: MenuButtonProps) {
  return (
    <Menu label={label} items={items} {...(placement ? { placement } : {})}>
      {children === undefined ? (
        <IconButton {...rest} icon={icon} label={label} />
      ) : (
        <Button {...rest} icon={icon} aria-label={label}>
          {children}
        </Button>
      )}
    </Menu>
  );
}
