import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import css from "./Spinner.module.css";

/** A turning ring. With a label it is said aloud; within something that says it waits, it needs none. */
export function Spinner({ label, className }: { label?: string; className?: string }) {
  if (label === undefined) return <span className={classes(css.ring, className)} aria-hidden="true" />;
  return (
    <span className={classes(css.labelled, className)} role="status">
      <span className={css.ring} aria-hidden="true" />
      <span>{label || t.loading}</span>
    </span>
  );
}
