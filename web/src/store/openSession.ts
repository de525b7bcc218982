import { type Api, address, patience } from "../api/client";
import { type ApiError, asApiError } from "../api/error";
import { EventStream, heartbeat, type StreamOptions } from "../api/stream";
import type { TokenBox } from "../api/token";
import type { Event, EventPage, Frame, Session } from "../api/types";
import type { Item } from "../talk/item";
import { type Change, Talk } from "../talk/talk";
import { coreTexts as t } from "../texts/core";
import { parseEventId } from "./eventData";
import { Again, Batch, Debounced } from "./frames";
import type { ItemOrder, OpenSession } from "./hub";
import { Cell, type Readable } from "./readable";
import { patched, refreshAfter } from "./snapshot";

/** How many events are read at first, and for each page before them. */
const pageSize = 200;
/** How many events at once are read on the way to one that is far away. */
const bigPage = 1000;
/** How far back events are read one after the other; what is farther away is shown with a gap behind it. */
const farthest = 20_000;
/** How many items there may be at the top, and how many are left when there are more. */
const mostItems = 20_000;
const keptItems = 15_000;
/** How many characters of events may have come before half of the items are dropped, and how few items are always left. */
const mostText = 128 << 20;
const fewestItems = 500;
/** How many pages are read for older items if those before brought nothing to see. */
const emptyPages = 10;
/** How soon a snapshot that could not be read is asked for again. */
const tryAgain = 5000;

export interface OpenOptions {
  api: Api;
  token: TokenBox;
  base: string;
  connect?: StreamOptions["connect"];
  /** Whether the hub is connected. */
  online: () => boolean;
  /** How often the snapshot is read at most, in milliseconds. */
  snapshotPause?: number;
  /** How many characters of events are kept, about; 128 Mi if absent. */
  mostText?: number;
}

/** A session that is on the screen, kept current by a stream of its own. */
export class LiveSession implements OpenSession {
  readonly id: string;
  readonly snapshot = new Cell<{ session?: Session; error?: ApiError }>({});
  readonly order = new Cell<ItemOrder>({ ids: [], older: false, loading: true, generation: 0 });

  private readonly options: OpenOptions;
  private readonly onRelease: () => void;
  private talk = new Talk();
  private stream: EventStream | undefined;
  /** What was handed out for items, so that whoever asks again gets the same, and those who draw them. */
  private readonly handles = new Map<string, Readable<Item | undefined>>();
  private readonly watchers = new Map<string, Set<() => void>>();
  private closed = false;
  /** Counts readings of everything: what an earlier one brings is nothing. */
  private loads = 0;
  private atEnd = true;
  /** How many characters the events had that came since items were dropped: some lines are very long. */
  private received = 0;

  // Where the log was read.
  private epoch = "";
  private first = 1;
  private last = 0;
  /** Frames that came before the first page. */
  private early: Frame[] | undefined;
  private older_: Promise<void> | undefined;
  /** What was left out on the way to something far away, from and to these numbers. */
  private holes: { from: number; to: number }[] = [];
  /** Whether the stream was connected since everything was read. */
  private joined = false;

  // What has changed since the last frame that was drawn.
  private changed = new Set<string>();
  private reordered = false;
  private readonly batch = new Batch(() => this.draw());

  /** Events that were put into the snapshot since it was asked for last: the answer may be older than they are. */
  private sinceAsked: Event[] = [];
  private readonly refresh: Debounced;
  private readonly again = new Again(() => void this.load());

  constructor(id: string, options: OpenOptions, onRelease: () => void) {
    this.id = id;
    this.options = options;
    this.onRelease = onRelease;
    this.refresh = new Debounced(options.snapshotPause ?? 500, () => this.readSnapshot());
    void this.load();
  }

  item = (id: string): Readable<Item | undefined> => {
    let handle = this.handles.get(id);
    if (!handle) {
      handle = { get: () => this.talk.item(id), subscribe: (listener) => this.watch(id, listener) };
      this.handles.set(id, handle);
    }
    return handle;
  };

  reading = (atEnd: boolean): void => {
    this.atEnd = atEnd;
    this.trim();
  };

  release = (): void => this.onRelease();

  /** Tries again what failed for want of a connection. */
  retry(): void {
    if (this.closed) return;
    if (!this.stream) {
      if (this.snapshot.get().error) void this.load();
      return;
    }
    this.stream.retry();
    if (this.snapshot.get().error) this.refresh.within(0);
  }

  /** Ends it. Nothing changes any more. */
  close(): void {
    this.closed = true;
    this.stream?.close();
    this.batch.drop();
    this.refresh.stop();
    this.again.stop();
  }

  // Loading.

  /** Reads everything anew: the snapshot, and the end of the log. What is shown stays until it has come. */
  private async load(notice?: ItemOrder["notice"], attempt = 1): Promise<void> {
    const number = ++this.loads;
    const current = () => !this.closed && number === this.loads;
    this.unfollow();
    this.again.stop();
    this.order.set({ ...this.order.get(), loading: true, error: undefined });
    try {
      const session = await this.call("get-session");
      if (!current()) return;
      const end = parseEventId(session.last_event_id);
      this.epoch = end?.epoch ?? "";
      this.last = end?.seq ?? 0;
      this.early = [];
      this.snapshot.set({ session });
      // The stream and the first page are asked for at once; what the stream brings waits for the page.
      this.follow();
      const from = Math.max(0, this.last - pageSize);
      const page = await this.span(from, this.last, pageSize);
      if (!current()) return;
      this.again.worked();
      this.show(session, page.events, { older: from > 0 && !page.gap, notice: page.gap ? "gap" : notice });
    } catch (e) {
      if (!current()) return;
      this.unfollow();
      this.early = undefined;
      if (e instanceof LogChanged && attempt < 3) {
        await this.load("reset", attempt + 1);
        return;
      }
      const error = asApiError(e);
      this.snapshot.set({ ...this.snapshot.get(), error });
      this.order.set({ ...this.order.get(), loading: false, error });
      // Without a connection the hub says when there is one. What the server has refused for good is not asked for again.
      if (error.status >= 500 || error.status === 429 || (error.status === 0 && this.options.online())) this.again.failed();
    }
  }

  /** Replaces the conversation by what was read. */
  private show(session: Session, events: readonly Event[], how: Pick<ItemOrder, "older" | "notice">): void {
    const before = this.order.get();
    const again = before.ids.length > 0;
    this.talk = new Talk();
    this.holes = [];
    this.received = 0;
    this.first = events[0]?.seq ?? this.last + 1;
    for (const e of events) this.talk.event(e);
    // What is being written is in the snapshot already; the stream tells it anew as soon as it is there.
    const messages = session.partial ?? [];
    if (messages.length > 0) this.talk.frame({ type: "partial", partial: { session: this.id, messages, after: this.last } });
    const early = this.early ?? [];
    this.early = undefined;
    for (const frame of early) this.frame(frame);
    this.batch.drop();
    this.reordered = false;
    this.changed.clear();
    this.order.set({ ...how, ids: this.talk.top, loading: false, generation: before.generation + (again ? 1 : 0) });
    this.handles.clear();
    // With other items the old ids may mean something else: everybody looks again.
    for (const id of [...this.watchers.keys()]) this.tell(id);
  }

  private async call(operation: "get-session"): Promise<Session> {
    return this.options.api.call(operation, { params: { id: this.id }, signal: patience() });
  }

  /**
   * Reads the events whose numbers are above `from` and up to `to`. A gap says that the first ones are there no more. An answer that the
   * log is another one is an error here: the caller's numbers mean nothing.
   */
  private async span(from: number, to: number, size: number): Promise<{ events: Event[]; gap: boolean }> {
    const events: Event[] = [];
    let gap = false;
    let after = from > 0 ? `${this.epoch}:${from}` : undefined;
    for (;;) {
      const page: EventPage = await this.options.api.call("get-events", {
        params: { id: this.id },
        query: { after, limit: Math.min(size, Math.max(1, to - from)) },
        signal: patience(),
      });
      if (page.resume === "reset" && after !== undefined) throw new LogChanged();
      gap ||= page.resume === "gap";
      for (const e of page.events ?? []) if ((e.seq ?? 0) <= to) events.push(e);
      const reached = parseEventId(page.next)?.seq ?? to;
      if (!page.more || !page.next || page.next === after || reached >= to) return { events, gap };
      after = page.next;
    }
  }

  // Following.

  private unfollow(): void {
    this.stream?.close();
    this.stream = undefined;
  }

  private follow(): void {
    this.unfollow();
    this.joined = false;
    this.stream = new EventStream({
      address: () =>
        address(this.options.base, "/v1/sessions/{id}/events", {
          params: { id: this.id },
          query: { after: this.last > 0 ? `${this.epoch}:${this.last}` : undefined, heartbeat },
        }),
      token: this.options.token,
      connect: this.options.connect,
      frame: (f, size) => this.frame(f, size),
      // The hub's own stream tells how the connection is; two that tell would contradict each other.
      status: () => {},
      why: async () => {
        if (!this.options.online()) return undefined; // the hub's stream finds out for all
        try {
          await this.call("get-session");
          return undefined;
        } catch (e) {
          const error = asApiError(e);
          if (!this.closed && error.code !== "unreachable") this.snapshot.set({ session: this.snapshot.get().session, error });
          return error;
        }
      },
    });
  }

  private frame(f: Frame, size = 0): void {
    if (f.type === "resume") {
      if (f.resume && f.resume.resume !== "ok") {
        void this.load(f.resume.resume === "gap" ? "gap" : "reset");
        return;
      }
      // A hub that was away tells by events what has happened, but not all that is in a snapshot: whether the agent is linked, for one.
      if (this.joined) this.refresh.within(150);
      this.joined = true;
      return;
    }
    if (this.early) {
      this.early.push(f);
      return;
    }
    if (f.type === "event" && f.event) {
      const seq = f.event.seq ?? 0;
      if (seq <= this.last) return;
      this.last = seq;
      this.received += size;
      const id = parseEventId(f.event.id);
      if (id) this.epoch = id.epoch; // a gap may begin a new one
      this.patch(f.event);
    }
    this.note(this.talk.frame(f));
  }

  private note(change: Change): void {
    for (const id of change.items) this.changed.add(id);
    this.reordered ||= change.order;
    if (change.items.size > 0 || change.order) this.batch.soon();
  }

  /** Tells those who watch what has changed: once for each item, however many deltas it was. */
  private draw(): void {
    const changed = this.changed;
    this.changed = new Set();
    this.trim();
    if (this.reordered) {
      this.reordered = false;
      this.order.set({ ...this.order.get(), ids: this.talk.top });
    }
    for (const id of changed) this.tell(id);
  }

  private watch(id: string, listener: () => void): () => void {
    const watchers = this.watchers.get(id) ?? new Set();
    watchers.add(listener);
    this.watchers.set(id, watchers);
    return () => {
      watchers.delete(listener);
      if (watchers.size === 0 && this.watchers.get(id) === watchers) this.watchers.delete(id);
    };
  }

  private tell(id: string): void {
    for (const listener of [...(this.watchers.get(id) ?? [])]) listener();
  }

  private trim(): void {
    const count = this.talk.top.length;
    const long = this.received > (this.options.mostText ?? mostText) && count > fewestItems;
    if (!this.atEnd || this.older_ || (count <= mostItems && !long)) return;
    this.received = Math.floor(this.received / 2);
    const change = this.talk.trim(long ? Math.max(fewestItems, Math.floor(count / 2)) : keptItems);
    const oldest = parseEventId(this.talk.firstEvent);
    if (oldest) this.first = oldest.seq;
    for (const id of change.items) {
      this.tell(id);
      if (!this.watchers.has(id)) this.handles.delete(id);
    }
    this.reordered = false;
    this.order.set({ ...this.order.get(), ids: this.talk.top, older: this.first > 1 });
  }

  // The snapshot.

  private patch(e: Event): void {
    const { session, error } = this.snapshot.get();
    if (session) {
      const next = patched(session, e);
      if (next !== session) {
        this.sinceAsked.push(e);
        this.snapshot.set({ session: next, error });
      }
    }
    const soon = refreshAfter(e);
    if (soon !== undefined) this.refresh.within(soon);
  }

  private async readSnapshot(): Promise<void> {
    this.sinceAsked = [];
    const number = this.loads;
    try {
      let session = await this.call("get-session");
      if (this.closed || number !== this.loads) return;
      const taken = parseEventId(session.last_event_id)?.seq ?? 0;
      for (const e of this.sinceAsked) if ((e.seq ?? 0) > taken) session = patched(session, e);
      this.snapshot.set({ session });
    } catch (e) {
      if (this.closed || number !== this.loads) return;
      const error = asApiError(e);
      // Without a connection what was known stays, and is read again when there is one.
      if (error.code !== "unreachable") this.snapshot.set({ session: this.snapshot.get().session, error });
      if (error.status !== 404 && this.options.online()) this.refresh.within(tryAgain);
    }
  }

  // Looking back.

  older = (far = false): Promise<void> => {
    // Nothing is followed when nothing could be read: whoever tries again means all of it.
    if (!this.stream && this.order.get().error) return this.load();
    this.older_ ??= this.readOlder(far ? bigPage : pageSize).finally(() => {
      this.older_ = undefined;
    });
    return this.older_;
  };

  private async readOlder(size: number): Promise<void> {
    for (let n = 0; n < emptyPages && this.order.get().older; n++) {
      const before = this.talk.top[0];
      await this.back(Math.max(0, this.first - 1 - size), size);
      if (this.order.get().error || this.talk.top[0] !== before) return;
    }
  }

  /** Reads what lies between a number and the first event, and puts it before. */
  private async back(from: number, size: number): Promise<void> {
    const current = this.same();
    this.order.set({ ...this.order.get(), loading: true, error: undefined });
    try {
      const { events, gap } = await this.span(from, this.first - 1, size);
      if (!current()) return;
      this.prepend(events, gap ? (events[0]?.seq ?? this.first) : from + 1, gap);
    } catch (e) {
      if (current()) await this.unread(e);
    }
  }

  /** Returns whether, by then, it is still the same conversation that something older is to be put before. */
  private same(): () => boolean {
    const { loads, talk } = this;
    return () => !this.closed && loads === this.loads && talk === this.talk;
  }

  /** Says that older events could not be read. */
  private async unread(why: unknown): Promise<void> {
    if (why instanceof LogChanged) await this.load("reset");
    else this.order.set({ ...this.order.get(), loading: false, error: asApiError(why) });
  }

  private prepend(events: readonly Event[], first: number, gap: boolean): void {
    this.note(this.talk.prepend(events));
    // Two may look back at once: what the nearer one brings is there already.
    this.first = Math.min(this.first, first);
    this.batch.now();
    const order = this.order.get();
    this.order.set({ ...order, loading: false, older: this.first > 1 && !gap, notice: gap ? "gap" : order.notice });
  }

  reveal = async (event: string): Promise<string | undefined> => {
    const id = parseEventId(event);
    await this.ready();
    await this.older_;
    if (!id || id.epoch !== this.epoch || id.seq > this.last) return undefined;
    if (this.holes.some((hole) => hole.from <= id.seq && id.seq <= hole.to)) {
      await this.load();
      if (id.epoch !== this.epoch) return undefined;
    }
    if (id.seq < this.first) {
      if (this.first - id.seq > farthest) await this.jump(id.seq);
      else await this.back(Math.max(0, id.seq - 1 - pageSize / 4), bigPage);
    }
    this.batch.now();
    return this.talk.itemOf(event);
  };

  /** Shows the events around one that is far away; what lies between is left out, and said to be. */
  private async jump(seq: number): Promise<void> {
    const current = this.same();
    const from = Math.max(0, seq - 1 - pageSize / 2);
    const to = seq + pageSize / 2;
    this.order.set({ ...this.order.get(), loading: true, error: undefined });
    try {
      const { events, gap } = await this.span(from, to, pageSize);
      if (!current()) return;
      const missing = this.first - 1 - to;
      this.holes.push({ from: to + 1, to: this.first - 1 });
      const between: Event = {
        session: this.id,
        kind: "gap",
        source: "hub",
        data: { from: to + 1, to: this.first - 1, reason: t.gapNotLoaded(missing), certain: true },
      };
      this.prepend([...events, between], from + 1, gap);
    } catch (e) {
      if (current()) await this.unread(e);
    }
  }

  /** Waits until the first page is there, or cannot be had. */
  private ready(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.early === undefined && !this.order.get().loading) {
          stop();
          resolve();
        }
      };
      const stop = this.order.subscribe(look);
      look();
    });
  }
}

/** The log is another one than that which was read before. */
class LogChanged extends Error {}
