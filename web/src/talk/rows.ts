import type { Entry } from "./entry";
import { toolKey } from "./keys";
import type { Tree } from "./tree";

/** What is told in the row of another entry, by that entry, in order. */
export type Joined = ReadonlyMap<Entry, readonly Entry[]>;

/** Whether an entry may be no row of its own. */
export function mayJoin(entry: Entry): boolean {
  const { notice, question, fate, failed } = entry.told;
  if (fate) return true;
  if (entry.kind === "text") return failed === true;
  if (notice) return notice.topic === "retry" || notice.topic === "interrupt" || notice.topic === "interrupted";
  return question?.state === "cancelled";
}

/**
 * Finds what is no row of its own: one thing that several events tell of is one row. That are retries one after the other, what led to the
 * end of a turn that was interrupted, and an error that the end of its turn says again. It depends only on what stands at the top, so it is the same in whatever order pages were read.
 */
export class Rows {
  /** Entries that are no row. Those that no row tells of say nothing that matters. */
  readonly hidden = new Map<Entry, Entry | undefined>();
  readonly joined: Joined;

  private readonly top: readonly Entry[];
  private readonly known: ReadonlyMap<string, Entry>;

  constructor(tree: Tree, known: ReadonlyMap<string, Entry>) {
    this.top = tree.top;
    this.known = known;
    const candidates = [...tree.mayJoin].filter((entry) => entry.home === undefined).sort((a, b) => a.place - b.place);
    this.retries(candidates);
    const cut = candidates.filter((entry) => entry.told.notice?.topic === "interrupted");
    const stopped = this.interrupted(cut);
    for (const entry of candidates) {
      if (entry.told.fate && !isLost(entry)) this.hidden.set(entry, undefined);
      else if (entry.told.notice?.topic === "interrupt" || entry.told.question) this.ofInterrupt(entry, stopped);
      else if (entry.kind === "text") this.ofFailure(entry);
    }
    const joined = new Map<Entry, Entry[]>();
    for (const entry of candidates) {
      const row = this.hidden.get(entry);
      if (row) joined.set(row, [...(joined.get(row) ?? []), entry]);
    }
    this.joined = joined;
  }

  /** Joins each retry with the one right before it. */
  private retries(candidates: readonly Entry[]): void {
    let before: Entry | undefined;
    for (const entry of candidates) {
      if (entry.told.notice?.topic !== "retry") continue;
      if (before && this.top[this.at(before) + 1] === entry) this.hidden.set(entry, this.hidden.get(before) ?? before);
      before = entry;
    }
  }

  /** Joins what the CLI says about an interrupt with the end of its turn. Returns the rows that tell of interrupts. */
  private interrupted(cut: readonly Entry[]): Set<Entry> {
    const stopped = new Set<Entry>(cut);
    for (const entry of cut) {
      const turn = this.after(entry, (other) => other.kind === "turn");
      if (!turn?.told.turn?.interrupted && !turn?.told.turn?.failed) continue;
      this.hidden.set(entry, turn);
      stopped.delete(entry);
      stopped.add(turn);
    }
    return stopped;
  }

  /** Joins an interrupt, or a question that it cancelled, with the row of its end. */
  private ofInterrupt(entry: Entry, stopped: ReadonlySet<Entry>): void {
    const { question } = entry.told;
    // A question that is not about a call is told of nowhere else.
    if (question && !this.known.get(toolKey(question.tool_use_id ?? ""))?.inside) return;
    const row = this.after(entry, (other) => stopped.has(other) || other.kind === "turn");
    if (row && (stopped.has(row) || row.told.turn?.interrupted)) this.hidden.set(entry, row);
  }

  /** Joins an error that the CLI wrote as if the agent had said it with the end of the turn, if that says the same. */
  private ofFailure(entry: Entry): void {
    const turn = this.after(entry, (other) => other.kind === "turn");
    const error = turn?.told.turn?.failed ? (turn.told.turn.error ?? "") : "";
    if (error !== "" && entry.told.text?.trim() === error) this.hidden.set(entry, turn);
  }

  /** The first row after an entry, up to the next prompt, that is one of those. */
  private after(entry: Entry, wanted: (other: Entry) => boolean): Entry | undefined {
    for (let i = this.at(entry) + 1; i < this.top.length; i++) {
      const other = this.top[i];
      if (!other || other.kind === "prompt") return undefined;
      if (wanted(other)) return other;
    }
    return undefined;
  }

  /** Where an entry stands at the top. */
  private at(entry: Entry): number {
    let [low, high] = [0, this.top.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.top[middle]?.place ?? 0) < entry.place) low = middle + 1;
      else high = middle;
    }
    while (low < this.top.length && this.top[low] !== entry) low++;
    return low;
  }
}

/** Whether a message that the CLI did not finish never became part of the conversation. One whose turn was cut short did. */
function isLost(entry: Entry): boolean {
  const fate = entry.told.fate;
  if (!fate) return false;
  return fate.dropped === "cancelled" ? fate.queued === true && !fate.started : fate.dropped !== undefined;
}
