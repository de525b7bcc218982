import type { ReactNode } from "react";
import type { Tone } from "./Badge";
import { classes } from "./classes";
import css from "./Note.module.css";

/** A boxed remark: a warning before something is done, a fact that explains what is seen. */
export function Note({
  tone = "neutral",
  icon,
  title,
  className,
  children,
}: {
  tone?: Tone;
  icon?: ReactNode;
  title?: ReactNode;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <div className={classes(css.note, css[tone], className)}>
      {icon}
      <div className={css.body}>
        {title && <p className={css.title}>{title}</p>}
        {children}
      </div>
    </div>
  );
}
