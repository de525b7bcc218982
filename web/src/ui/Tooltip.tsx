import type { ReactElement } from "react";
import { Tooltip as AriaTooltip, type TooltipProps, TooltipTrigger } from "react-aria-components";
import { Kbd } from "./Kbd";
import css from "./Tooltip.module.css";

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
