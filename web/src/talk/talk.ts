import type { Event, Frame } from "../api/types";
import { Compacting } from "./compacting";
import type { Item } from "./item";
import { isObject, str } from "./json";
import { eventNumber, toolKey } from "./keys";
import { Live, type LiveBlock, viewBlock } from "./live";
import { Part } from "./part";
import { Reader } from "./reader";
import { Rows } from "./rows";
import { viewEntry } from "./view";

/** What an event has changed. */
export interface Change {
  /** `top` is another array now. */
  readonly order: boolean;
  /** The items that are other ones now, or are new, or have gone. */
  readonly items: ReadonlySet<string>;
  /** Nothing of before holds. */
  readonly reset?: boolean;
}

const unchanged: Change = { order: false, items: new Set() };
const noRows = { hidden: new Map(), joined: new Map() };

/**
 * What has been read of one session. It knows no clock, starts nothing and reads nothing but what it is given. It may be fed from the end
 * backwards: older pages of events that are put in front give the same items as if all had been read from the beginning.
 */
export class Talk {
  private part = new Part();
  private live = new Live((id) => this.part.tree.get(id) !== undefined);
  /** What is being written, by its id, and the ids by the tool call whose agent writes them. */
  private writing = new Map<string, LiveBlock>();
  private within = new Map<string, string[]>();
  private compacting = new Compacting();
  private order: readonly string[] | undefined;
  private rows: Pick<Rows, "hidden" | "joined"> = noRows;

  private first = "";
  private last = "";
  /** The place before the oldest event. */
  private front = 0;

  /** The ids of the items at the top, in order; a new array only when it changed. */
  get top(): readonly string[] {
    if (!this.order) {
      const { hidden } = this.rows;
      const ids = this.part.tree.top.filter((entry) => !hidden.has(entry)).map((entry) => entry.id);
      for (const block of this.writing.values()) if (this.homeOf(block) === undefined) ids.push(block.id);
      if (this.compacting.item) ids.push(this.compacting.item.id);
      this.order = ids;
    }
    return this.order;
  }

  /** The id of the oldest event that is kept, to ask for the page before it; empty if none is. */
  get firstEvent(): string {
    return this.first;
  }

  /** The id of the newest event that was read. */
  get lastEvent(): string {
    return this.last;
  }

  /** Takes a frame of a stream: an event, something live, what is being written; a reset clears everything. */
  frame(frame: Frame): Change {
    const { event, partial, resume } = frame;
    if (frame.type === "resume" && resume?.resume === "reset") return this.reset();
    if ((frame.type === "event" || frame.type === "live") && event) return this.event(event);
    if (frame.type === "partial" && partial) return this.apply(() => this.live.replace(partial.messages ?? [], ""));
    return unchanged;
  }

  private reset(): Change {
    const items = new Set([...this.part.tree.ids(), ...this.writing.keys()]);
    if (this.compacting.item) items.add(this.compacting.item.id);
    this.part = new Part();
    this.live = new Live((id) => this.part.tree.get(id) !== undefined);
    this.writing = new Map();
    this.within = new Map();
    this.compacting = new Compacting();
    this.rows = noRows;
    this.order = [];
    this.first = "";
    this.last = "";
    this.front = 0;
    return { order: true, items, reset: true };
  }

  /** Takes the next event. One that was read already changes nothing. */
  event(event: Event): Change {
    const id = event.id ?? "";
    if (id !== "") {
      if (id === this.last || comesBefore(id, this.last)) return unchanged;
      this.last = id;
      if (this.first === "") this.first = id;
    }
    return this.apply(() => this.read(event));
  }

  /** Takes an event into the part, and into what is being written. */
  private read(event: Event): void {
    this.part.begin();
    this.compacting.event(event);
    const reader = new Reader(this.part, event);
    const { line } = event;
    if (event.kind === "run_started" || event.kind === "run_ended") this.live.clear();
    if (!isObject(line) || (event.kind !== "line" && event.kind !== "live")) {
      reader.event();
      return;
    }
    const type = str(line, "type");
    if (type === "stream_event") {
      this.live.stream(line, event.time ?? "");
      return;
    }
    if (event.kind === "line") {
      if (type === "assistant") reader.heirs = this.live.finished(line);
      else this.live.line(line);
    }
    reader.event();
  }

  /** Takes an older page of events, in their order. */
  prepend(events: readonly Event[]): Change {
    const older = [...events];
    // What is known already is not taken again.
    for (let end = older.at(-1); end && isFrom(end.id ?? "", this.first); end = older.at(-1)) older.pop();
    const [oldest] = older;
    if (!oldest) return unchanged;
    const newest = older.at(-1);
    if (this.last === "") this.last = newest?.id ?? "";
    this.first = oldest.id ?? "";
    this.front -= older.length;
    return this.apply(() => {
      const page = new Part(true);
      page.next = this.front;
      for (const event of older) {
        page.begin();
        new Reader(page, event).event();
      }
      this.part.prepend(page);
    });
  }

  /** Drops the oldest items at the top, so that `keep` are left. They come again with the pages that they are of. */
  trim(keep: number): Change {
    return this.apply(() => {
      this.first = this.part.trim(Math.max(keep, 1)) ?? this.first;
    });
  }

  /** An item of this id, also one of a sub-agent's. It is the same object until it changes. */
  item(id: string): Item | undefined {
    if (this.compacting.item?.id === id) return this.compacting.item;
    const block = this.writing.get(id);
    if (block) {
      block.view ??= viewBlock(block, block.parent === "" ? undefined : toolKey(block.parent));
      return block.view;
    }
    const entry = this.part.tree.get(id);
    if (!entry || this.rows.hidden.has(entry)) return undefined;
    // What the sandbox refused is a part of the call that ran.
    if (entry.kind === "refusal" && entry.home) return undefined;
    entry.view ??= viewEntry(entry, this.part, this.within.get(id) ?? [], this.rows.joined.get(entry) ?? []);
    return entry.view;
  }

  /** The item that an event tells of, also one of a sub-agent's; if it tells of none, the one before it. */
  itemOf(event: string): string | undefined {
    const { tree } = this.part;
    if (event !== "" && this.compacting.item?.event === event) return this.compacting.item.id;
    const entry = this.part.byEvent.get(event);
    const row = entry && this.rows.hidden.get(entry);
    if (row) return row.id;
    // What the sandbox refused is told in the call that ran.
    if (entry?.kind === "refusal" && entry.home) return entry.home.id;
    if (entry?.inside && !this.rows.hidden.has(entry)) return entry.id;
    const tool = entry?.told.task?.tool ? tree.get(toolKey(entry.told.task.tool)) : undefined;
    if (tool) return tool.id;
    const number = eventNumber(event);
    if (number === 0 || comesBefore(event, this.first) || comesBefore(this.last, event)) return undefined;
    const rows = tree.top.filter((one) => !this.rows.hidden.has(one));
    return (rows.findLast((one) => eventNumber(one.event) <= number && one.event !== "") ?? rows[0])?.id;
  }

  /** Does something, and finds out what it changed. */
  private apply(change: () => void): Change {
    const { tree } = this.part;
    const { compacting } = this;
    change();
    const items = tree.changed;
    for (const id of this.live.changed) items.add(id);
    if (compacting.moved !== undefined) items.add(compacting.moved);
    const order = tree.moved || this.live.moved || compacting.moved !== undefined;
    if (order) this.arrange(items);
    tree.changed = new Set();
    tree.moved = false;
    this.live.changed = new Set();
    this.live.moved = false;
    compacting.moved = undefined;
    return items.size === 0 && !order ? unchanged : { order, items };
  }

  /** Lists what is being written, and tells the tools within which it stands. */
  private arrange(items: Set<string>): void {
    const { tree } = this.part;
    const before = this.within;
    this.order = undefined;
    this.join(items);
    this.writing = new Map();
    this.within = new Map();
    for (const block of this.live.shown()) {
      if (tree.get(block.id)) continue;
      this.writing.set(block.id, block);
      const home = this.homeOf(block);
      if (home !== undefined) this.within.set(home, [...(this.within.get(home) ?? []), block.id]);
    }
    for (const id of new Set([...before.keys(), ...this.within.keys()])) {
      const [was, is] = [before.get(id) ?? [], this.within.get(id) ?? []];
      const entry = tree.get(id);
      if (!entry || same(was, is)) continue;
      entry.view = undefined;
      items.add(id);
    }
  }

  /** Finds out which rows tell of others as well. */
  private join(items: Set<string>): void {
    const { tree, known } = this.part;
    const { hidden, joined } = this.rows;
    if (tree.mayJoin.size === 0 && hidden.size === 0) return;
    this.rows = new Rows(tree, known);
    for (const row of new Set([...joined.keys(), ...this.rows.joined.keys()])) {
      if (same(joined.get(row) ?? [], this.rows.joined.get(row) ?? [])) continue;
      row.view = undefined;
      items.add(row.id);
    }
    for (const entry of new Set([...hidden.keys(), ...this.rows.hidden.keys()])) {
      if (hidden.has(entry) !== this.rows.hidden.has(entry)) items.add(entry.id);
    }
  }

  /** The tool item within which a block stands; undefined for the top. */
  private homeOf(block: LiveBlock): string | undefined {
    return block.parent === "" ? undefined : this.part.tree.get(toolKey(block.parent))?.id;
  }
}

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function epochOf(event: string): string {
  return event.slice(0, Math.max(event.indexOf(":"), 0));
}

/** Whether an event is known to come before another: numbers of different epochs cannot be compared. */
function comesBefore(event: string, other: string): boolean {
  const [a, b] = [eventNumber(event), eventNumber(other)];
  return a > 0 && b > 0 && a < b && epochOf(event) === epochOf(other);
}

/** Whether an event is known to be another, or to come after it. */
function isFrom(event: string, other: string): boolean {
  const [a, b] = [eventNumber(event), eventNumber(other)];
  return a > 0 && b > 0 && a >= b && epochOf(event) === epochOf(other);
}
