import type { ReactNode } from "react";
import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import css from "./signs.module.css";

const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

const names: Record<string, string> = {
  mod: isApple ? "⌘" : "Ctrl",
  ctrl: "Ctrl",
  alt: isApple ? "⌥" : "Alt",
  shift: "⇧",
  enter: "↵",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  tab: "Tab",
  space: "Space",
};

/** The names of the keys of "mod+k" or "g i", one after another. Capital letters are shown with the shift key. */
export function keyNames(keys: string): string[] {
  return keys
    .split(" ")
    .flatMap((stroke) => (stroke === "+" ? ["+"] : stroke.split("+")))
    .flatMap((key) => {
      if (/^[A-Z]$/.test(key)) return ["⇧", key];
      return [names[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)];
    });
}

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

const known = ["starting", "idle", "running", "requires_action", "background", "offline", "ended", "failed"] as const;
type Known = (typeof known)[number];

function isKnown(state: string): state is Known {
  return (known as readonly string[]).includes(state);
}

/** The word for what a session is doing: "Running", "Needs you". A state that is not known here is shown as it is called. */
export function stateWord(state: string): string {
  return isKnown(state) ? t.states[state] : state;
}

/** The state of a session as a shape of its own colour; with `word`, the word beside it, else as its accessible name. */
export function StateDot({ state, word, className }: { state: string; word?: boolean; className?: string }) {
  const shape = <span className={classes(css.dot, css[isKnown(state) ? state : "idle"])} aria-hidden="true" />;
  if (!word) {
    return (
      <span className={classes(css.state, className)} role="img" aria-label={stateWord(state)} title={stateWord(state)}>
        {shape}
      </span>
    );
  }
  return (
    <span className={classes(css.state, css[`${isKnown(state) ? state : "idle"}Word`], className)}>
      {shape}
      {stateWord(state)}
    </span>
  );
}
