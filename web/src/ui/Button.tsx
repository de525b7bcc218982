import type { ReactNode, Ref } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components";
import css from "./Button.module.css";
import { classes } from "./classes";
import { Kbd } from "./Kbd";
import { Spinner } from "./Spinner";
import { Tooltip } from "./Tooltip";

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
