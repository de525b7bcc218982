import { Ban, Check, CircleQuestionMark, CircleStop, PencilLine, X } from "lucide-react";
import type { Tool } from "../talk/item";
import { toolTexts as t } from "../texts/tools";
import { classes } from "../ui/classes";
import { Spinner } from "../ui/signs";
import css from "./StateMark.module.css";

/** How a call is going: a shape, a colour, and a word unless it is simply done. */
export function StateMark({ state }: { state: Tool["state"] }) {
  return (
    <span className={classes(css.state, css[state])}>
      <Shape state={state} />
      <span className={state === "done" ? css.unseen : undefined}>{t.states[state]}</span>
    </span>
  );
}

function Shape({ state }: { state: Tool["state"] }) {
  switch (state) {
    case "writing":
      return <PencilLine size={14} aria-hidden="true" />;
    case "running":
      return <Spinner />;
    case "asking":
      return <CircleQuestionMark size={14} aria-hidden="true" />;
    case "done":
      return <Check size={14} aria-hidden="true" />;
    case "failed":
      return <X size={14} aria-hidden="true" />;
    case "denied":
      return <Ban size={14} aria-hidden="true" />;
    case "stopped":
      return <CircleStop size={14} aria-hidden="true" />;
  }
}
