import type { Question, TimelineItem } from "../api/types";

/** A step of a turn: something with a beginning and, mostly, an end. */
export interface Step {
  readonly id: string;
  readonly event: string;
  readonly kind: "tool" | "wait" | "point";
  /** What the server calls it: tool, question, decision, prompt, run, … */
  readonly what: string;
  readonly title: string;
  readonly start: number;
  /** Undefined if it has not ended, or has no duration. */
  readonly end?: number;
  /** How far its bar goes: to its end, to now if it goes on, else nowhere. */
  readonly until: number;
  /** When it was at work: a tool does nothing while people are waited for. Absent for what is a point. */
  readonly worked?: readonly Span[];
  readonly failed?: boolean;
  readonly by?: string;
}

/** From when to when. */
export type Span = readonly [number, number];

/** What happened up to the end of a turn. */
export interface TurnGroup {
  readonly id: string;
  /** The number of the turn; undefined for what came after the last one. */
  readonly number?: number;
  /** It has not ended. */
  readonly going: boolean;
  readonly event?: string;
  readonly title: string;
  readonly prompt?: string;
  readonly by?: string;
  readonly start: number;
  readonly end: number;
  readonly ms: number;
  readonly usd?: number;
  readonly failed: boolean;
  readonly steps: readonly Step[];
  /** How long tools ran, those at the same time counted once. */
  readonly tools: number;
  /** How long somebody was waited for. */
  readonly waited: number;
}

/** What a timeline is read with. */
export interface Circumstances {
  readonly questions: readonly Question[];
  readonly now: number;
  /** Whether the session is at work: what has no end then goes on. */
  readonly working: boolean;
  /** How many turns were before those that are told. */
  readonly before?: number;
}

/**
 * Groups what happened by turns. A timeline tells when a question came up and when it was settled as two things; the questions themselves
 * say which belong together.
 */
export function groupTurns(items: readonly TimelineItem[], around: Circumstances): TurnGroup[] {
  const groups: TurnGroup[] = [];
  const waits = byOpening(around.questions);
  let steps: TimelineItem[] = [];
  let number = around.before ?? 0;
  for (const item of items) {
    if (item.kind !== "turn") {
      steps.push(item);
      continue;
    }
    groups.push(finished(stepsOf(steps, waits, undefined), item, ++number));
    steps = [];
  }
  if (steps.length > 0) groups.push(rest(stepsOf(steps, waits, around.working ? around.now : undefined), around));
  return groups;
}

function byOpening(questions: readonly Question[]): Map<number, Question[]> {
  const waits = new Map<number, Question[]>();
  for (const question of questions) {
    const opened = Date.parse(question.opened);
    waits.set(opened, [...(waits.get(opened) ?? []), question]);
  }
  return waits;
}

/** The steps of a turn. `now` is given if the turn goes on. */
function stepsOf(items: readonly TimelineItem[], questions: Map<number, Question[]>, now: number | undefined): Step[] {
  const steps: Step[] = [];
  for (const item of items) {
    const start = Date.parse(item.time);
    if (Number.isNaN(start)) continue;
    const step = {
      id: `${item.seq}.${steps.length}`,
      event: item.event_id,
      what: item.kind,
      title: item.title,
      start,
      failed: item.failed,
      by: item.by,
    };
    if (item.kind === "tool") {
      const end = item.ms === undefined ? undefined : start + item.ms;
      steps.push({ ...step, kind: "tool", end, until: end ?? now ?? start });
    } else if (item.kind === "question") {
      const question = questions.get(start)?.shift();
      const settled = question?.settled ? Date.parse(question.settled) : Number.NaN;
      const end = Number.isNaN(settled) ? undefined : Math.max(start, settled);
      steps.push({ ...step, kind: "wait", end, until: end ?? (question ? now : undefined) ?? start, by: question?.by });
    } else {
      steps.push({ ...step, kind: "point", until: start });
    }
  }
  const waits = spans(steps, "wait");
  return steps.map((step) => {
    if (step.kind === "point") return step;
    return { ...step, worked: step.kind === "tool" ? without([step.start, step.until], waits) : [[step.start, step.until]] };
  });
}

/** What is left of a span without others. */
export function without(span: Span, others: readonly Span[]): Span[] {
  const left: Span[] = [];
  const end = span[1];
  let begin = span[0];
  for (const [from, to] of [...others].sort((a, b) => a[0] - b[0])) {
    if (to <= begin || from >= end) continue;
    if (from > begin) left.push([begin, from]);
    begin = Math.min(to, end);
  }
  if (end > begin || left.length === 0) left.push([begin, end]);
  return left;
}

function finished(steps: readonly Step[], turn: TimelineItem, number: number): TurnGroup {
  const end = Date.parse(turn.time);
  const ms = turn.ms ?? 0;
  // The process may have been started before the turn began: that is no part of it.
  const start = Math.min(end - ms, ...steps.filter((s) => s.kind !== "point" || s.what === "prompt").map((s) => s.start));
  const common = { id: `turn ${turn.seq}`, number, going: false, event: turn.event_id, title: turn.title, usd: turn.usd };
  return { ...common, failed: turn.failed ?? false, ...of(steps, start, end), ms: ms || end - start };
}

/** What came after the last turn: a turn that goes on, or what happened between turns. */
function rest(steps: readonly Step[], { now, working }: Circumstances): TurnGroup {
  const start = steps.find((s) => s.kind !== "point" || s.what === "prompt")?.start ?? steps[0]?.start ?? now;
  const end = working ? Math.max(start, now) : Math.max(start, ...steps.map((s) => s.until));
  return { id: "rest", going: working, title: "", failed: false, ...of(steps, start, end), ms: end - start };
}

function of(steps: readonly Step[], start: number, end: number) {
  const prompt = steps.findLast((s) => s.what === "prompt");
  return {
    prompt: prompt?.title,
    by: prompt?.by,
    start,
    end,
    steps,
    tools: covered(spans(steps, "tool")),
    waited: covered(spans(steps, "wait")),
  };
}

function spans(steps: readonly Step[], kind: Step["kind"]): Span[] {
  return steps.filter((s) => s.kind === kind).map((s) => [s.start, s.until] as const);
}

/** How much time spans cover, where they overlap counted once. */
export function covered(spans: readonly Span[]): number {
  let sum = 0;
  let reach = Number.NEGATIVE_INFINITY;
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const begin = Math.max(from, reach);
    if (to > begin) sum += to - begin;
    reach = Math.max(reach, to);
  }
  return sum;
}

export interface Totals {
  readonly turns: number;
  readonly working: number;
  readonly tools: number;
  readonly waited: number;
  readonly usd: number;
}

/** What all turns were together. */
export function totals(groups: readonly TurnGroup[]): Totals {
  const sum = { turns: 0, working: 0, tools: 0, waited: 0, usd: 0 };
  for (const g of groups) {
    if (g.number !== undefined) sum.turns++;
    sum.working += Math.max(0, g.ms - g.waited);
    // A tool that waits for permission is not running: the wait lies within its span.
    sum.tools += Math.max(0, Math.min(g.tools - overlap(g), g.ms));
    sum.waited += g.waited;
    sum.usd += g.usd ?? 0;
  }
  return sum;
}

function overlap(g: TurnGroup): number {
  const tools = spans(g.steps, "tool");
  const waits = spans(g.steps, "wait");
  return covered(tools) + covered(waits) - covered([...tools, ...waits]);
}
