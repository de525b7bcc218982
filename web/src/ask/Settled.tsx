import { Ban, Check, Minus } from "lucide-react";
import type { Question } from "../api/types";
import { Link } from "../app/router";
import { useHub } from "../store/hub";
import { oneLine } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { classes } from "../ui";
import { visible } from "../ui/diff";
import { outcomeOf, outcomeTone } from "./outcome";
import css from "./Settled.module.css";

/** What a question is about, in one line. */
function aboutQuestion(q: Question): string {
  const what =
    q.kind === "choice" ? (q.choices?.[0]?.question ?? q.title) : q.kind === "form" ? q.description || q.title : q.title;
  return visible(oneLine(what || q.tool || "", 200));
}

/** What was asked, in a line. */
export function asked(q: Question): string {
  const what = aboutQuestion(q);
  if (q.kind === "permission") return t.askedToUse(visible(q.tool ?? ""), what);
  if (q.kind === "plan") return t.askedPlan;
  return t.asked(t.rowKind[q.kind] ?? t.rowOther, what);
}

/** A shape for how a question was settled, beside the word. */
export function OutcomeIcon({ question }: { question: Question }) {
  const tone = outcomeTone(question);
  const Icon = tone === "ok" ? Check : tone === "danger" ? Ban : Minus;
  return <Icon size={14} aria-hidden="true" className={classes(css.icon, css[tone])} />;
}

/** What became of a question, in the place of its card: who, and what. With a session, it leads there. */
export function SettledLine({ question, session }: { question: Question; session?: string | undefined }) {
  const hub = useHub();
  return (
    <p className={css.line} role="status">
      <OutcomeIcon question={question} />
      <span className={css.what}>
        {session ? <Link to={{ page: "session", id: session }}>{asked(question)}</Link> : asked(question)}
      </span>
      <span className={css.outcome}>{visible(outcomeOf(question, hub.me()))}</span>
    </p>
  );
}
