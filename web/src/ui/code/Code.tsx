import { Fragment, useMemo } from "react";
import { classes } from "../classes";
import { visible } from "../diff/visible";
import styles from "./Code.module.css";
import { ColouredLine } from "./ColouredLine";
import { useColoured } from "./highlight";

/**
 * A text of code, in the colours of its language once those are loaded. It scrolls sideways, or wraps. What would turn its letters around
 * is made visible: code must not read as another one than it is.
 */
export function Code({ text, lang, wrap, className }: { text: string; lang?: string; wrap?: boolean; className?: string }) {
  const shown = useMemo(() => visible(text), [text]);
  const lines = useColoured(shown, lang);
  return (
    <pre className={classes(styles.code, wrap && styles.wrap, className)} tabIndex={wrap || !mayScroll(text) ? undefined : 0}>
      <code>
        {lines
          ? lines.map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
              <Fragment key={i}>
                {i > 0 ? "\n" : null}
                <ColouredLine line={line} />
              </Fragment>
            ))
          : shown}
      </code>
    </pre>
  );
}

/** Whether a text may be too wide, so that the keyboard must reach it to scroll. About forty characters fit on any screen. */
function mayScroll(text: string): boolean {
  return /[^\n]{40}/.test(text);
}
