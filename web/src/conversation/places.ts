import type { Folds } from "./fold";

/** Where somebody was in a conversation that they have left. */
export interface Reading {
  /** The row at the top of what was seen, and the event that it is of: ids of rows may be others when all is read anew. */
  readonly id: string;
  readonly event: string;
  /** How much of it, and of what follows it, was above what was seen, in pixels. */
  readonly above: number;
  /** What was open: the rows have to be as high as they were. */
  readonly folds: Folds;
}

/** How many sessions are remembered. */
const most = 100;

/** The places of this page's sessions, in memory alone: whoever was at the end comes back to the end. */
export class Places {
  private readonly kept = new Map<string, Reading>();

  get(session: string): Reading | undefined {
    return this.kept.get(session);
  }

  /** Remembers where somebody was; nothing for who was at the end. */
  keep(session: string, reading: Reading | undefined): void {
    this.kept.delete(session);
    if (reading) this.kept.set(session, reading);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= most) break;
      this.kept.delete(oldest);
    }
  }
}

export const places = new Places();
