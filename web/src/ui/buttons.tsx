import { Check } from "lucide-react";
import type { ReactElement, ReactNode, Ref } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Menu as AriaMenu,
  Tooltip as AriaTooltip,
  Header,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  type PopoverProps,
  Separator,
  type TooltipProps,
  TooltipTrigger,
} from "react-aria-components";
import css from "./buttons.module.css";
import { classes } from "./classes";
import list from "./lists.module.css";
import { Kbd, Spinner } from "./signs";

/** Says more of the control within it, on hover and on keyboard focus. The child must be focusable (a Button, a Link). */
export function Tooltip({
  text,
  kbd,
  placement,
  children,
}: {
  text: string;
  kbd?: string;
  placement?: TooltipProps["placement"];
  children: ReactElement;
}) {
  return (
    <TooltipTrigger delay={500} closeDelay={80}>
      {children}
      <AriaTooltip className={css.tooltip} offset={6} {...(placement ? { placement } : {})}>
        {text}
        {kbd && <Kbd keys={kbd} />}
      </AriaTooltip>
    </TooltipTrigger>
  );
}

type Common = Omit<AriaButtonProps, "className" | "children" | "style"> & {
  variant?: "primary" | "plain" | "quiet" | "danger";
  size?: "s" | "m";
  /** Why the button is disabled: it can then still be focused, and says this. */
  reason?: string;
  className?: string;
  ref?: Ref<HTMLButtonElement>;
};

export type ButtonProps = Common & {
  icon?: ReactNode;
  /** Keys that do the same. They are shown; useKeys listens to them. */
  kbd?: string;
  children?: ReactNode;
};

/** A button with words. With isDisabled and a reason, the reason is its tooltip and its description. */
export function Button({ variant = "plain", size = "m", icon, kbd, reason, className, children, ...rest }: ButtonProps) {
  const refused = Boolean(rest.isDisabled && reason);
  const button = (
    <AriaButton {...rest} {...(refused ? inert : {})} className={classes(css.button, css[variant], css[size], className)}>
      {rest.isPending ? <Spinner /> : icon}
      {children}
      {kbd && <Kbd keys={kbd} className={css.kbd} />}
    </AriaButton>
  );
  return refused && reason ? <Tooltip text={reason}>{button}</Tooltip> : button;
}

export type IconButtonProps = Common & {
  icon: ReactNode;
  /** The name of the button, shown as a tooltip. */
  label: string;
  kbd?: string;
};

/** A button with an icon only. */
export function IconButton({ variant = "quiet", size = "m", icon, label, kbd, reason, className, ...rest }: IconButtonProps) {
  const refused = Boolean(rest.isDisabled && reason);
  return (
    <Tooltip text={refused && reason ? reason : label} kbd={refused ? undefined : kbd}>
      <AriaButton
        aria-label={label}
        {...rest}
        {...(refused ? inert : {})}
        className={classes(css.button, css.icononly, css[variant], css[size], className)}
      >
        {rest.isPending ? <Spinner /> : icon}
      </AriaButton>
    </Tooltip>
  );
}

/** What makes a button do nothing and yet be reached by keyboard and pointer, so that it can say why. */
const inert = {
  isDisabled: false,
  "aria-disabled": true,
  onPress: undefined,
  onPressStart: undefined,
  onPressEnd: undefined,
  type: "button" as const,
};

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
function Menu({
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
      <Popover className={list.popover ?? ""} offset={4} {...(placement ? { placement } : {})}>
        <AriaMenu aria-label={label} className={list.list ?? ""}>
          {items.map((item, at) => {
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be known by
            if (item === null) return <Separator key={`line ${at}`} className={list.separator} />;
            if ("entries" in item) {
              return (
                <MenuSection key={item.title}>
                  <Header className={list.header}>{item.title}</Header>
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
      className={classes(list.item, entry.danger && list.danger)}
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
      <span className={list.text}>
        <span>{entry.label}</span>
        {entry.hint && <span className={list.hint}>{entry.hint}</span>}
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
