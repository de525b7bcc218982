import type { Question, Session, SessionSummary } from "../api/types";
import { appTexts as t } from "../texts/app";

/** What somebody may want to be told. */
export type NewsKind = "asks" | "done" | "failed";

/** A notification. One with the same tag takes its place. */
export interface News {
  kind: NewsKind;
  tag: string;
  title: string;
  body: string;
  /** Where a press on it leads, as a fragment. */
  to: string;
}

const working = new Set(["starting", "running", "requires_action", "background"]);

/** The questions that came up and those that are no longer open, between two looks at the list. */
export function questionChanges(
  before: readonly Question[],
  after: readonly Question[],
): { opened: Question[]; settled: string[] } {
  const was = new Set(before.filter((q) => q.state === "open").map((q) => q.id));
  const is = new Set(after.filter((q) => q.state === "open").map((q) => q.id));
  return {
    opened: after.filter((q) => q.state === "open" && !was.has(q.id)),
    settled: [...was].filter((id) => !is.has(id)),
  };
}

/**
 * The sessions that have stopped working, between two looks at the list: their turn has ended, or they have. One that was not there before
 * has just been made, and its first turn may be over already.
 */
export function stopped(
  before: ReadonlyMap<string, SessionSummary>,
  after: ReadonlyMap<string, SessionSummary>,
): SessionSummary[] {
  return [...after.values()].filter((session) => {
    const was = before.get(session.id)?.state;
    return (was === undefined || working.has(was)) && (session.state === "idle" || session.state === "ended");
  });
}

/** What to say of a question. */
export function questionNews(question: Question, session: string): News {
  const kinds: Record<string, string> = t.notify.questionKinds;
  return {
    kind: "asks",
    tag: `question ${question.id}`,
    title: t.notify.asks(session),
    body: [kinds[question.kind] ?? t.notify.question, question.title ?? question.tool].filter(Boolean).join(": "),
    to: `#/inbox/${encodeURIComponent(question.id)}`,
  };
}

/** What to say of a session that has stopped working; nothing if somebody interrupted or stopped it, or if it has not worked at all. */
export function stopNews(session: Session, name: string): News | undefined {
  const common = { tag: `session ${session.id}`, to: `#/s/${encodeURIComponent(session.id)}` };
  if (session.result?.interrupted) return undefined;
  if (session.state === "idle" && !session.result) return undefined;
  if (session.state === "ended") {
    return { ...common, kind: "failed", title: t.notify.ended(name), body: session.ended?.reason ?? "" };
  }
  if (session.result?.failed) return { ...common, kind: "failed", title: t.notify.failed(name), body: session.text ?? "" };
  return { ...common, kind: "done", title: t.notify.done(name), body: session.text ?? "" };
}
