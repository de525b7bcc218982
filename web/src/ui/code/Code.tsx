import { Fragment, useMemo, useState } from "react";
import { conversationTexts as t } from "../../texts/conversation";
import { Button } from "../buttons";
import { classes } from "../classes";
import { visible } from "../visible";
import styles from "./Code.module.css";
import { type TokenLine, useColoured } from "./highlight";

/** One line of coloured code, without its end. */
export function ColouredLine({ line }: { line: TokenLine }) {
  return line.map((token, i) =>
    token.cls ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
      <span key={i} className={token.cls}>
        {token.text}
      </span>
    ) : (
      token.text
    ),
  );
}

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

/** How much of a text is drawn unless somebody asks for the rest. */
export const drawnMost = 100_000;

// More than this is not drawn at once: the page would stand still for seconds.
const stepMost = 2_000_000;

/** A text that may be of any length: its beginning, and the rest if it is asked for, in steps if it is huge. */
export function LongText({ text, lang, wrap, most = drawnMost }: { text: string; lang?: string; wrap?: boolean; most?: number }) {
  const [asked, setAsked] = useState(0);
  const shown = most + asked;
  const left = text.length - shown;
  return (
    <>
      <Code text={left > 0 ? text.slice(0, shown) : text} lang={lang} wrap={wrap} />
      {left > 0 ? (
        <Button variant="quiet" size="s" onPress={() => setAsked(asked + Math.min(left, stepMost))}>
          {left <= stepMost ? t.showAll(size(text.length)) : t.showMore(size(shown), size(text.length))}
        </Button>
      ) : null}
    </>
  );
}

/** A number of characters, as people read it. */
export function size(characters: number): string {
  if (characters < 1000) return `${characters} B`;
  if (characters < 1_000_000) return `${(characters / 1000).toFixed(0)} kB`;
  return `${(characters / 1_000_000).toFixed(1)} MB`;
}
