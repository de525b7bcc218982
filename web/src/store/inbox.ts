import { type Api, patience } from "../api/client";
import { type ApiError, asApiError } from "../api/error";
import type { Event, Question } from "../api/types";
import { questionOf } from "./eventData";
import { Again, Batch } from "./frames";
import { Cell } from "./readable";

export interface QuestionsState {
  readonly loaded: boolean;
  readonly error?: ApiError;
  readonly list: readonly Question[];
}

/** How long a question that was settled is shown, so that people see by whom and how. */
const shownAfter = 60_000;
/** How many questions that vanished while there was no connection are asked about. */
const mostVanished = 20;

/** What agents ask, in all sessions. */
export class Inbox {
  readonly state = new Cell<QuestionsState>({ loaded: false, list: [] });

  private readonly api: Api;
  private questions = new Map<string, Question>();
  /** Counts readings: what an earlier one brings is nothing. */
  private readings = 0;
  private reading = false;
  private readonly again = new Again(() => void this.reload());
  /** What came while the list was read: the list may be older. */
  private meanwhile: Event[] = [];
  private timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly batch = new Batch(() => this.show());
  private closed = false;

  constructor(api: Api) {
    this.api = api;
  }

  /** Reads all open questions anew. */
  async reload(): Promise<void> {
    const number = ++this.readings;
    this.reading = true;
    this.again.stop();
    this.meanwhile = [];
    const open = new Map<string, Question>();
    try {
      let cursor: string | undefined;
      do {
        const page = await this.api.call("list-questions", { query: { state: "open", cursor }, signal: patience() });
        for (const q of page.questions ?? []) open.set(q.id, q);
        cursor = page.next || undefined;
      } while (cursor);
    } catch (e) {
      if (this.closed || number !== this.readings) return;
      this.reading = false;
      this.state.set({ ...this.state.get(), error: asApiError(e) });
      this.again.failed();
      return;
    }
    if (this.closed || number !== this.readings) return;
    this.reading = false;
    this.again.worked();
    const vanished = [...this.questions.values()].filter((q) => q.state === "open" && !open.has(q.id));
    for (const q of vanished) this.questions.delete(q.id);
    for (const [id, q] of open) this.questions.set(id, q);
    for (const e of this.meanwhile) this.event(e);
    this.meanwhile = [];
    const settled = await Promise.all(vanished.slice(0, mostVanished).map((q) => this.lookUp(q.id)));
    if (this.closed || number !== this.readings) return;
    for (const q of settled) if (q && !this.questions.has(q.id)) this.take(q);
    this.show({ loaded: true });
  }

  /** Reads what could not be read, now that there is a connection again. */
  retry(): void {
    if (this.state.get().error) void this.reload();
  }

  /** Takes an event of any kind. */
  event(e: Event): void {
    if (!e.kind.startsWith("question_")) return;
    if (this.reading) this.meanwhile.push(e);
    const q = questionOf(e);
    if (q) this.take(q);
  }

  close(): void {
    this.closed = true;
    this.batch.drop();
    this.again.stop();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private take(q: Question): void {
    const old = this.questions.get(q.id);
    // Events are repeated after a connection was lost: what is settled stays so.
    if (old && old.state !== "open" && q.state === "open") return;
    if (q.state === "open") {
      this.questions.set(q.id, q);
    } else if (this.shown(q.id)) {
      this.questions.set(q.id, q);
      this.forgetLater(q.id);
    } else {
      this.questions.delete(q.id); // opened and settled while nobody could see it
    }
    this.batch.soon();
  }

  private shown(id: string): boolean {
    return this.state.get().list.some((q) => q.id === id);
  }

  private forgetLater(id: string): void {
    if (this.timers.has(id)) return;
    const forget = () => {
      this.timers.delete(id);
      this.questions.delete(id);
      this.batch.soon();
    };
    this.timers.set(id, setTimeout(forget, shownAfter));
  }

  /** Asks what became of a question that is not open any more. */
  private async lookUp(id: string): Promise<Question | undefined> {
    try {
      return await this.api.call("get-question", { params: { id }, signal: patience() });
    } catch {
      return undefined; // it is gone with its session
    }
  }

  private show(how: { loaded: boolean; error?: ApiError } = this.state.get()): void {
    this.batch.drop();
    const list = [...this.questions.values()].sort(
      (a, b) => Date.parse(a.opened) - Date.parse(b.opened) || (a.id < b.id ? -1 : 1),
    );
    this.state.set({ loaded: how.loaded, error: how.error, list });
  }
}
