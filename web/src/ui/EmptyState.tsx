import type { ReactNode } from "react";
import { classes } from "./classes";
import css from "./EmptyState.module.css";

/** What a list shows when nothing is in it: what would be here, and what to do. */
export function EmptyState({
  icon,
  title,
  className,
  children,
}: {
  icon?: ReactNode;
  title: string;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <div className={classes(css.empty, className)}>
      {icon && (
        <span className={css.icon} aria-hidden="true">
          {icon}
        </span>
      )}
      <h2 className={css.title}>{title}</h2>
      {children && <div className={css.body}>{children}</div>}
    </div>
  );
}
