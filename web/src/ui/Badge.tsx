import type { ReactNode } from "react";
import css from "./Badge.module.css";
import { classes } from "./classes";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "danger";

/** A word or a number in a soft box. */
export function Badge({
  tone = "neutral",
  title,
  className,
  children,
}: {
  tone?: Tone;
  title?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <span className={classes(css.badge, css[tone], className)} title={title}>
      {children}
    </span>
  );
}
