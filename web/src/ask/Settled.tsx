import { Ban, Check, CircleHelp, Minus } from "lucide-react";
import { useCallback } from "react";
import type { Question } from "../api/types";
import { href, Link } from "../app/router";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { isObject } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { classes } from "../ui/classes";
import { Ago } from "../ui/values";
import { visible } from "../ui/visible";
import { focusCard } from "./card";
import { RevealedJson } from "./parts";
import css from "./Settled.module.css";
import { asked, outcomeOf, outcomeTone } from "./words";

/** A shape for how a question was settled, beside the word. */
function OutcomeIcon({ question }: { question: Question }) {
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

/** The record of a question within a conversation: what was asked, and what became of it. */
export function QuestionRow({ question: written }: { question: Question }) {
  const hub = useHub();
  // What the hub knows now is newer than what the conversation was told.
  const known = usePart(
    hub.questions,
    useCallback((all) => all.list.find((q) => q.id === written.id), [written.id]),
  );
  const question = known && written.state === "open" ? known : written;
  const open = question.state === "open";
  return (
    <div className={classes(css.row, open && css.open)}>
      <p className={css.line}>
        {open ? <CircleHelp size={14} aria-hidden="true" className={css.icon} /> : <OutcomeIcon question={question} />}
        <span className={css.what}>{asked(question)}</span>
        <span className={css.outcome}>{open ? t.waits : visible(outcomeOf(question, hub.me()))}</span>
        {open ? (
          <a
            className={css.answer}
            href={href({ page: "inbox", question: question.id })}
            onClick={(e) => focusCard(question.id) && e.preventDefault()}
          >
            {t.answerHere}
          </a>
        ) : (
          <Ago time={question.settled} className={css.time} />
        )}
      </p>
      <Answered question={question} />
    </div>
  );
}

/** What was answered beyond yes and no. */
function Answered({ question: q }: { question: Question }) {
  const a = q.answer;
  if (!a) return null;
  const always =
    a.always &&
    (a.always.rule ||
      (a.always.suggestion !== undefined && (q.suggestions?.[a.always.suggestion]?.text || t.suggestion(a.always.suggestion))));
  const choices = isObject(a.choices) ? Object.entries(a.choices) : [];
  if (
    a.input === undefined &&
    a.plan === undefined &&
    !always &&
    choices.length === 0 &&
    a.content === undefined &&
    a.result === undefined &&
    !a.note
  )
    return null;
  return (
    <details className={css.details}>
      <summary>{t.details}</summary>
      <dl className={css.answers}>
        {choices.map(([question, c]) => (
          <div key={question}>
            <dt>{visible(question)}</dt>
            <dd>
              {visible(
                c.skip ? t.skippedOne : [...(c.labels ?? []), c.text, c.notes && `(${c.notes})`].filter(Boolean).join(", "),
              )}
            </dd>
          </div>
        ))}
        {always && (
          <div>
            <dt>{t.answeredRule}</dt>
            <dd>{visible([always, a.always?.destination].filter(Boolean).join(", "))}</dd>
          </div>
        )}
        {a.note && (
          <div>
            <dt>{t.answeredNote}</dt>
            <dd>{visible(a.note)}</dd>
          </div>
        )}
        {a.plan !== undefined && (
          <div>
            <dt>{t.answeredPlan}</dt>
            <dd className={css.text}>{visible(a.plan)}</dd>
          </div>
        )}
      </dl>
      {a.input !== undefined && <RevealedJson value={a.input} />}
      {a.content !== undefined && <RevealedJson value={a.content} />}
      {a.result !== undefined && <RevealedJson value={a.result} />}
    </details>
  );
}
