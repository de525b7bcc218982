import { type Api, patience } from "../api/client";
import { type ApiError, asApiError } from "../api/error";
import type { Event, SessionSummary } from "../api/types";
import { dataText } from "./eventData";
import { Again, Batch, Debounced } from "./frames";
import { Cell } from "./readable";

export interface SessionsState {
  readonly loaded: boolean;
  readonly error?: ApiError;
  readonly byId: ReadonlyMap<string, SessionSummary>;
}

const pageSize = 200;
/** The largest page that the server gives. */
const largestPage = 1000;
/** The shortest time between two readings of what has changed. */
const pause = 400;
/** How soon it is tried again when the server did not want to. */
const tryAgain = 5000;
/** How many pages are looked at for those that have changed, before everything is read again. */
const mostPages = 3;

/**
 * The list of sessions. States are changed as events tell them; everything else is read again for those that events tell of. Those are the
 * most recently updated, which the list begins with: one short page usually has them all, however many sessions there are.
 */
export class SessionList {
  readonly state = new Cell<SessionsState>({ loaded: false, byId: new Map() });

  private readonly api: Api;
  /** Counts readings: what an earlier one brings is nothing. */
  private readings = 0;
  private reading = false;
  /** What has changed is being read: what events tell meanwhile is newer. */
  private asking = false;
  private readonly again = new Again(() => void this.reload());
  /** Sessions that events told of, since they were read last. */
  private dirty = new Set<string>();
  /** States that events told, not shown yet; while something is read they are kept, as what is read may be older. */
  private states = new Map<string, string>();
  private readonly batch = new Batch(() => this.show(new Map(this.state.get().byId)));
  private readonly refresh = new Debounced(pause, () => this.readDirty());
  private closed = false;

  constructor(api: Api) {
    this.api = api;
  }

  /** Reads everything anew. What is shown stays until it has come. */
  async reload(): Promise<void> {
    const number = ++this.readings;
    this.reading = true;
    this.again.stop();
    const first = !this.state.get().loaded;
    const current = () => !this.closed && number === this.readings;
    const byId = new Map<string, SessionSummary>();
    try {
      let cursor: string | undefined;
      let began: number | undefined;
      let pages = 0;
      do {
        const page = await this.page(pageSize, false, cursor);
        if (!current()) return;
        began ??= newest(page.sessions);
        for (const s of page.sessions) byId.set(s.id, s);
        cursor = page.next;
        pages++;
        if (first && cursor) this.show(new Map(byId), { loaded: false });
      } while (cursor);
      // A session that changed meanwhile has moved to the front of the list, past the pages that were still to be read.
      while (pages > 1) {
        const page = await this.page(largestPage, false, cursor);
        if (!current()) return;
        for (const s of page.sessions) byId.set(s.id, s);
        cursor = page.next;
        if (!cursor || newest(page.sessions.slice(-1)) <= (began ?? 0)) break;
      }
    } catch (e) {
      if (!current()) return;
      this.reading = false;
      this.state.set({ ...this.state.get(), error: asApiError(e) });
      this.again.failed();
      return;
    }
    this.reading = false;
    this.again.worked();
    this.show(byId, { loaded: true });
  }

  /** Reads what could not be read, now that there is a connection again. */
  retry(): void {
    if (this.state.get().error) void this.reload();
    else if (this.dirty.size > 0) this.refresh.within(0);
  }

  event(e: Event): void {
    if (e.kind === "state") {
      const state = dataText(e, "state");
      if (state) {
        // Whoever notifies looks at each change: a turn that begins and ends within a frame is one, too.
        if ((this.states.get(e.session) ?? state) !== state) this.batch.now();
        this.states.set(e.session, state);
        // In a page that is out of sight timers run once a minute.
        if (typeof document !== "undefined" && document.hidden) this.batch.now();
        else this.batch.soon();
      }
    }
    this.dirty.add(e.session);
    this.refresh.within(250);
  }

  close(): void {
    this.closed = true;
    this.batch.drop();
    this.refresh.stop();
    this.again.stop();
  }

  private async page(limit: number, archived: boolean, cursor?: string): Promise<{ sessions: SessionSummary[]; next?: string }> {
    const list = await this.api.call("list-sessions", {
      query: { limit, cursor, archived: archived || undefined },
      signal: patience(),
    });
    return { sessions: list.sessions ?? [], next: list.next || undefined };
  }

  private async readDirty(): Promise<void> {
    if (this.reading) {
      this.refresh.within(pause); // all of it is being read; what has changed since is read after that
      return;
    }
    const wanted = this.dirty;
    this.dirty = new Set();
    const limit = Math.min(pageSize, Math.max(20, wanted.size * 2));
    const number = this.readings;
    const fresh = new Map<string, SessionSummary>();
    const missing = new Set(wanted);
    let cursor: string | undefined;
    if (this.states.size > 0) this.batch.now(); // what was told before is no newer than what is read now
    this.asking = true;
    try {
      for (let n = 0; n < mostPages && missing.size > 0; n++) {
        const page = await this.page(limit, true, cursor);
        for (const s of page.sessions) {
          fresh.set(s.id, s);
          missing.delete(s.id);
        }
        cursor = page.next;
        if (!cursor) break;
      }
    } catch (e) {
      this.asking = false;
      for (const id of wanted) this.dirty.add(id);
      // Without a connection it is read with the next one.
      if (asApiError(e).code !== "unreachable") this.refresh.within(tryAgain);
      return;
    }
    this.asking = false;
    if (this.closed || number !== this.readings) return; // everything was read anew, or is being read
    if (missing.size > 0 && cursor) {
      void this.reload();
      return;
    }
    const byId = new Map(this.state.get().byId);
    for (const [id, s] of fresh) {
      const old = byId.get(id);
      if (s.archived) byId.delete(id);
      else if (!old || !same(old, s)) byId.set(id, s);
    }
    this.show(byId);
  }

  /** Puts the states that events told into the list, which nobody else has, and shows it. */
  private show(byId: Map<string, SessionSummary>, how: { loaded: boolean; error?: ApiError } = this.state.get()): void {
    this.batch.drop();
    for (const [id, state] of this.states) {
      const s = byId.get(id);
      if (s && s.state !== state) byId.set(id, { ...s, state });
    }
    if (!this.reading && !this.asking) this.states.clear();
    this.state.set({ loaded: how.loaded, error: how.error, byId });
  }
}

function same(a: SessionSummary, b: SessionSummary): boolean {
  const names = Object.keys(b) as (keyof SessionSummary)[];
  return names.length === Object.keys(a).length && names.every((name) => a[name] === b[name]);
}

/** When the latest of them was updated; they are in that order. */
function newest(sessions: readonly SessionSummary[]): number {
  return Date.parse(sessions[0]?.updated ?? "") || 0;
}
