import type { ReactNode } from "react";
import type { Question } from "../api/types";
import { clip } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { formatDuration, useNow } from "../ui";
import { visible } from "../ui/diff";
import css from "./Card.module.css";

/** What is to be known about a question of any kind: who asks, why, and the rule because of which it is asked. */
export function Facts({ question: q, children }: { question: Question; children?: ReactNode }) {
  const rule =
    q.rule &&
    [t.ruleText(q.rule.decision, q.rule.rule, q.rule.scope), q.rule.reason && t.ruleReason(q.rule.reason)]
      .filter(Boolean)
      .join(", ");
  return (
    <>
      <dl className={css.facts}>
        {children}
        <Fact name={t.askedBy} value={q.agent_id && t.subAgent(q.agent_id)} />
        <Fact name={t.why} value={saysNothing(q.why ?? "") ? undefined : q.why} />
        <Fact name={t.path} value={q.blocked_path} code />
        <Fact name={t.rule} value={rule} />
      </dl>
      {q.deadline ? <Deadline opened={q.opened} seconds={q.deadline} /> : null}
    </>
  );
}

/** Whether a reason says no more than that there is a question. */
export function saysNothing(why: string): boolean {
  return /^(this (command|tool|action|call)?\s*requires (approval|permission)|claude requested permissions? to (use|write to|edit|read) .*, but you haven['’]t granted it yet)\.?$/i.test(
    why.trim(),
  );
}

/** The beginning of a text: what an agent writes about a question must not push away what is asked. */
function brief(text: string): string {
  const { text: most, left } = clip(text, 600);
  const lines = most.split("\n");
  return lines.length > 6 ? `${lines.slice(0, 6).join("\n")} …` : left > 0 ? `${most} …` : most;
}

/** A fact, if there is one. What an agent wrote is shown with all of its characters. */
export function Fact({ name, value, code }: { name: string; value: string | undefined; code?: boolean }) {
  if (!value) return null;
  const text = visible(brief(value));
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{code ? <code>{text}</code> : text}</dd>
    </div>
  );
}

/** The earliest time at which the hub refuses a question by itself. Nobody but the hub knows for how long it could have been seen. */
function Deadline({ opened, seconds }: { opened: string; seconds: number }) {
  const now = useNow(1000);
  const left = Date.parse(opened) + seconds * 1000 - now;
  return <p className={css.deadline}>{left > 0 ? t.deadline(formatDuration(Math.ceil(left / 1000) * 1000)) : t.deadlineNow}</p>;
}
