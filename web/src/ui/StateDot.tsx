import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import css from "./StateDot.module.css";

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
