import type { Question } from "../api/types";
import { askTexts as t } from "../texts/ask";
import type { Outcome } from "./plan";
import { planText } from "./request";

/** What an outcome of a plan review is called, for this question. */
export function outcomeLabel(q: Question, outcome: string, bypass: boolean): string {
  const known: readonly string[] = ["fresh", "accept_edits", "ask", "revise", "reject", "outline"];
  if (!known.includes(outcome)) return outcome; // one of tomorrow
  return t.outcome(outcome as Outcome, { percent: q.plan?.context_percent, bypass, none: planText(q) === "" });
}

/** Says in one line how a question was settled, by whom, and what the agent was told. me is the name of this device. */
export function outcomeOf(q: Question, me?: string): string {
  const text = [settledBy(q, me)];
  if (q.state === "answered_too_late") text.push(`, ${t.tooLate}`);
  const why = q.answer?.message || q.reason;
  if (why) text.push(`: ${why}`);
  return text.join("");
}

function settledBy(q: Question, me?: string): string {
  if (q.answer) return t.by(decided(q), who(q, me));
  if (q.state === "cancelled") return q.by || q.from === "hub" ? t.by(t.said.takenBack, who(q, me)) : t.said.takenBack;
  return t.by(t.said.other, who(q, me));
}

function who(q: Question, me?: string): string {
  if (q.from === "hub" && q.rule && q.rule.decision !== "ask") return t.byRule(q.rule.rule);
  if (q.by) return q.by === me ? t.you : q.by;
  if (q.from === "hub") return t.byHub;
  return q.from ? t.byKind(q.from) : t.someone;
}

/** What was answered, in a word or two. */
export function decided(q: Question): string {
  const a = q.answer;
  if (!a) return t.said.other;
  if (a.outcome) return t.said.outcome(outcomeLabel(q, a.outcome, a.mode === "bypassPermissions"));
  switch (a.decision) {
    case "allow":
      if (q.kind === "choice") return t.said.answered;
      if (a.always) return t.said.allowAlways;
      return a.input === undefined ? t.said.allow : t.said.allowEdited;
    case "deny":
      if (a.interrupt) return t.said.denyStop;
      return q.kind === "choice" ? t.said.skipped : t.said.deny;
    case "accept":
      return t.said.accept;
    case "decline":
      return t.said.decline;
    case "choose":
      return t.said.choose;
    case "cancel":
      return t.said.cancel;
    default:
      return t.said.other;
  }
}

/** How a settled question is meant to look: what was let happen, what was not, and what nobody decided. */
export function outcomeTone(q: Question): "ok" | "danger" | "neutral" {
  const a = q.answer;
  if (!a || q.state === "cancelled") return "neutral";
  if (a.decision === "allow" || a.decision === "accept" || a.decision === "choose") return "ok";
  if (a.outcome === "fresh" || a.outcome === "accept_edits" || a.outcome === "ask") return "ok";
  if (a.decision === "deny" || a.decision === "decline" || a.outcome === "reject") return "danger";
  return "neutral";
}
