import type { Answer, Json, Question } from "../api/types";
import { planText } from "./request";

export type Outcome = "fresh" | "accept_edits" | "ask" | "revise" | "reject" | "outline";

const order: readonly Outcome[] = ["fresh", "accept_edits", "ask", "revise", "reject", "outline"];

/** An outcome that can be chosen, and the key that does. */
export interface PlanChoice {
  readonly outcome: Outcome;
  readonly key: string;
}

/**
 * The outcomes that can be chosen now; none if the hub names none that is known here, and then only the call itself can be answered.
 * Keys stay the same whichever there are: without a plan there are only yes and no.
 */
export function planChoices(q: Question): readonly PlanChoice[] {
  const outcomes: readonly string[] = q.plan?.outcomes ?? [];
  const keys: Record<Outcome, string> = { fresh: "1", accept_edits: "2", ask: "3", revise: "4", reject: "r", outline: "p" };
  const yesOrNo = planText(q) === "" && !outcomes.includes("fresh") && !outcomes.includes("revise");
  const list = order.filter((o) => outcomes.includes(o) && (!yesOrNo || o === "ask" || o === "reject"));
  return list.map((outcome) => ({ outcome, key: yesOrNo ? (outcome === "ask" ? "1" : "2") : keys[outcome] }));
}

/** Whether an outcome lets the agent go on. */
export function approves(outcome: Outcome): boolean {
  return outcome === "fresh" || outcome === "accept_edits" || outcome === "ask";
}

/** Whether an outcome can also go on without asking for anything any more. */
export function canBypass(q: Question, outcome: Outcome): boolean {
  return q.plan?.bypass === true && (outcome === "fresh" || outcome === "accept_edits");
}

/** Whether there is a turn that a refusal can stop. */
export function canStop(q: Question): boolean {
  return !q.stale && planChoices(q).some((c) => c.outcome === "reject");
}

/** What goes along with an approval. */
export interface Approval {
  /** The plan as it was edited; undefined if it was not. */
  readonly edited?: string;
  readonly bypass: boolean;
  readonly compact: boolean;
  readonly noPrompts: boolean;
}

/** Approves a plan. What does not go with the outcome is left out: a bypass with ask, compaction with a fresh start. */
export function approve(q: Question, outcome: "fresh" | "accept_edits" | "ask", with_: Approval): Answer {
  const answer: Answer = { outcome };
  if (with_.edited !== undefined && with_.edited !== planText(q)) answer.plan = with_.edited;
  if (with_.bypass && canBypass(q, outcome)) answer.mode = "bypassPermissions";
  if (with_.compact && outcome !== "fresh") answer.compact = true;
  if (with_.noPrompts && (q.plan?.prompts ?? []).length > 0) answer.no_prompts = true;
  return answer;
}

/** An image that goes along with what is said about a plan, as the CLI takes it. */
export interface ImageBlock {
  readonly type: "image";
  readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
}

/** Has the agent plan on; undefined while there is nothing that it could be told. */
export function revise(message: string, images: readonly ImageBlock[]): Answer | undefined {
  const said = message.trim();
  if (said === "" && images.length === 0) return undefined;
  const answer: Answer = { outcome: "revise" };
  if (said !== "") answer.message = said;
  if (images.length > 0) answer.images = images.map((i): Json => ({ type: i.type, source: { ...i.source } }));
  return answer;
}

/** Refuses a plan. */
export function reject(message: string, stop: boolean): Answer {
  const answer: Answer = { outcome: "reject" };
  const said = message.trim();
  if (said !== "") answer.message = said;
  if (stop) answer.interrupt = true;
  return answer;
}

/** Has the agent write down every step before it asks again. */
export const outline: Answer = { outcome: "outline" };
