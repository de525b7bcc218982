import { classes } from "./classes";
import css from "./Kbd.module.css";
import { keyNames } from "./keyNames";

/** The keys of something, as they are written on a keyboard. Not shown where there is none, and not read aloud. */
export function Kbd({ keys, className }: { keys: string; className?: string }) {
  return (
    <span className={classes(css.keys, className)} aria-hidden="true">
      {keyNames(keys).map((name, at) => (
        // The order of keys is all that tells them apart: "g g" has the same one twice.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes its order
        <kbd key={at} className={css.key}>
          {name}
        </kbd>
      ))}
    </span>
  );
}
