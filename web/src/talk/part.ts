import { addEvents, type Entry, mergeTold, type Told } from "./entry";
import type { Item } from "./item";
import { eventNumber, toolKey } from "./keys";
import { taskOver } from "./task";
import { Tree } from "./tree";
import { Waits } from "./waits";

/** Places leave room for this many entries of one event. Further ones share the last place, in their order. */
const subPlaces = 1 << 12;

/** What all entries of an event share. */
export interface Stamp {
  readonly event: string;
  readonly time: string;
  readonly run: number;
}

/** An entry as a reader hands it over. */
export interface Draft {
  readonly kind: Item["kind"];
  /** Empty, or absent, for what is told once. */
  readonly key?: string;
  /** The id that the item has had while it was being written. */
  readonly id?: string | undefined;
  readonly shows: boolean;
  readonly told: Told;
}

/** What a stretch of events tells: a page, or all that was read. */
export class Part {
  readonly known = new Map<string, Entry>();
  readonly tree = new Tree(this.known);
  readonly waits = new Waits(this.known);
  /** The entry that an event has told of first. */
  readonly byEvent = new Map<string, Entry>();
  readonly retracted = new Set<string>();
  /** The session's first event is among them. */
  begun = false;
  /** The place of the current event. */
  next = 0;

  private readonly lines = new Map<string, Entry[]>();
  /** Tasks by the tool call that started them. */
  private readonly tasks = new Map<string, Entry>();
  /** Tasks that are not over. */
  private readonly going = new Set<Entry>();
  /** Tool calls without a result since the last end of a turn. */
  private readonly running = new Map<string, Entry>();
  /** Where the last turn has ended. */
  private ended: number | undefined;
  /** Where the last process has ended. */
  private gone: number | undefined;
  /** Where the link to the agent came back last, or the process ended. */
  private back: number | undefined;
  /** Losses of the link that are not over. */
  private readonly losses = new Set<Entry>();
  private sub = 0;
  /** In the order of their making, if this is a page that will be put in front. */
  private readonly page: Entry[] | undefined;

  constructor(page = false) {
    if (page) this.page = [];
  }

  /** Begins with the next event. */
  begin(): void {
    this.next++;
    this.sub = 0;
  }

  /** Takes an entry. If one of its key is known, that learns what it tells. */
  add(stamp: Stamp, draft: Draft): Entry {
    const place = this.next * subPlaces + Math.min(this.sub, subPlaces - 1);
    this.sub++;
    const key = draft.key ?? "";
    const old = key === "" ? undefined : this.known.get(key);
    if (old) {
      this.merge(old, stamp, draft, place);
      return old;
    }
    const own = stamp.event === "" ? `live.${this.next}.${this.sub}` : `${stamp.event}.${this.sub}`;
    const entry: Entry = {
      id: draft.id ?? (key === "" ? own : key),
      key,
      kind: draft.kind,
      place,
      event: stamp.event,
      more: [],
      time: stamp.time,
      shows: draft.shows,
      parked: false,
      told: draft.told,
      inside: false,
      home: undefined,
      children: [],
      view: undefined,
    };
    if (key !== "") this.known.set(key, entry);
    this.remember(stamp.event, entry);
    this.note(entry);
    if (this.page) this.page.push(entry);
    else this.refresh(entry);
    return entry;
  }

  private merge(entry: Entry, stamp: Stamp, draft: Draft, place: number): void {
    const parent = entry.told.parent;
    entry.told = mergeTold(entry.told, draft.told);
    if (!entry.shows && draft.shows) {
      const before = entry.event;
      entry.shows = true;
      entry.kind = draft.kind;
      entry.place = place;
      entry.event = stamp.event;
      entry.time = stamp.time;
      addEvents(entry, [before]);
    } else {
      addEvents(entry, [stamp.event]);
    }
    this.remember(stamp.event, entry);
    this.note(entry);
    if (this.page) return;
    if (entry.told.parent !== parent && entry.inside) this.tree.remove(entry);
    this.refresh(entry);
  }

  private remember(event: string, entry: Entry): void {
    if (event !== "" && !this.byEvent.has(event)) this.byEvent.set(event, entry);
  }

  /** Keeps account of an entry under other names. */
  private note(entry: Entry, older = false): void {
    const { task, line, lost } = entry.told;
    if (lost) this.losses.add(entry);
    if (task?.tool && !(older && this.tasks.has(task.tool))) this.tasks.set(task.tool, entry);
    if (task) {
      if (taskOver(this.taskState(entry))) this.going.delete(entry);
      else this.going.add(entry);
    }
    if (line) {
      const list = this.lines.get(line);
      if (!list) this.lines.set(line, [entry]);
      else if (!list.includes(entry)) list.push(entry);
    }
    if (entry.kind !== "tool") return;
    if (this.awaitsResult(entry)) this.running.set(entry.key, entry);
    else this.running.delete(entry.key);
  }

  private awaitsResult(entry: Entry): boolean {
    const { call, result, denied } = entry.told;
    return call !== undefined && result === undefined && denied === undefined && !this.stopped(entry);
  }

  /** Whether an entry is to be among the items. */
  private wants(entry: Entry): boolean {
    const { line, task, lost } = entry.told;
    if (!entry.shows || entry.parked || (line !== undefined && this.retracted.has(line))) return false;
    if (lost && this.back !== undefined && this.back > entry.place) return false;
    return task === undefined || (!task.tool && !task.quiet);
  }

  /** Puts an entry among the items, takes it away, or says that it looks otherwise. */
  refresh(entry: Entry): void {
    const wants = this.wants(entry);
    if (wants && !entry.inside) this.tree.insert(entry);
    else if (!wants && entry.inside) this.tree.remove(entry);
    else this.tree.touch(entry);
    this.touchTool(entry.told.task?.tool);
  }

  /** Says that a tool call looks otherwise, and what its agent does: whether that goes on may depend on it. */
  private touchTool(use: string | undefined): void {
    if (!use) return;
    const tool = this.known.get(toolKey(use));
    if (tool) this.tree.touch(tool);
    for (const step of this.tree.within(use)) if (step.told.call && !step.told.result) this.tree.touch(step);
  }

  /** Says that a turn has ended: calls without a result will not get one. */
  over(): void {
    this.ended = this.next * subPlaces;
    for (const [key, entry] of [...this.running]) {
      this.tree.touch(entry);
      if (!this.background(entry.told.parent)) this.running.delete(key);
    }
  }

  /** Says that the process has ended: what it did in the background is over as well. */
  runOver(): void {
    this.over();
    this.gone = this.next * subPlaces;
    this.linked();
    for (const task of this.going) {
      this.tree.touch(task);
      this.touchTool(task.told.task?.tool);
    }
    this.going.clear();
  }

  /** Notes that people are waited for, or were: what runs meanwhile takes less time than it seems. */
  wait(question: string, use: string, opened: string, settled: string): void {
    if (!this.waits.note(question, use, opened, settled) || this.page) return;
    for (const entry of this.running.values()) this.tree.touch(entry);
  }

  /** Says that the link to the agent is back, or that there is nothing to link to: that it was lost is no news any more. */
  linked(): void {
    this.back = this.next * subPlaces;
    if (!this.page) for (const loss of this.losses) this.refresh(loss);
    this.losses.clear();
  }

  /** Takes back what lines said. */
  retract(uuids: readonly string[]): void {
    for (const uuid of uuids) {
      if (uuid === "" || this.retracted.has(uuid)) continue;
      this.retracted.add(uuid);
      if (!this.page) for (const entry of this.lines.get(uuid) ?? []) this.refresh(entry);
    }
  }

  /** The task that a tool call has started. */
  taskOf(use: string | undefined): Entry | undefined {
    return use === undefined ? undefined : this.tasks.get(use);
  }

  /** The state of a task: one whose process has ended before it did will not end any more. */
  taskState(task: Entry): string {
    const status = task.told.task?.status ?? "";
    return !taskOver(status) && this.gone !== undefined && this.gone > task.place ? "stopped" : status;
  }

  /** Whether the agent of a tool call may go on when the turn is over. */
  private background(use: string | undefined): boolean {
    const task = this.taskOf(use);
    return task !== undefined && !taskOver(this.taskState(task));
  }

  /** Whether the turn was over before a call got its result. */
  stopped(entry: Entry): boolean {
    return this.ended !== undefined && this.ended > entry.place && !this.background(entry.told.parent);
  }

  /** Puts an older page in front. */
  prepend(old: Part): void {
    const first = this.tree.firstTurn();
    if (first) this.tree.touch(first);
    this.tree.forgetDropped();
    this.begun ||= old.begun;
    this.waits.addOlder(old.waits);
    if (this.ended === undefined) this.ended = old.ended;
    if (this.gone === undefined) this.gone = old.gone;
    if (this.back === undefined) this.back = old.back;
    for (const uuid of old.retracted) this.retracted.add(uuid);
    for (const [event, entry] of old.byEvent) {
      const known = entry.key === "" ? undefined : this.known.get(entry.key);
      this.byEvent.set(event, known ?? entry);
    }
    const adopted = (old.page ?? []).map((entry) => this.adopt(entry));
    for (const entry of adopted) this.note(entry, true);
    this.tree.front(adopted.filter((entry) => this.wants(entry)));
    for (const entry of adopted) if (!this.wants(entry)) this.refresh(entry);
    for (const entry of adopted) this.touchTool(entry.told.task?.tool);
    for (const uuid of old.retracted) for (const entry of this.lines.get(uuid) ?? []) this.refresh(entry);
  }

  /** Takes an entry of an older page, or what it tells if a later one of its key is known: that keeps its id, and stands where it began. */
  private adopt(old: Entry): Entry {
    const known = old.key === "" ? undefined : this.known.get(old.key);
    if (!known) {
      if (old.key !== "") this.known.set(old.key, old);
      return old;
    }
    const parent = known.told.parent;
    known.told = mergeTold(old.told, known.told);
    known.parked = false;
    const events = [known.event, ...known.more];
    if (old.shows || !known.shows) {
      if (known.inside) this.tree.remove(known);
      known.shows = old.shows;
      known.kind = old.shows ? old.kind : known.kind;
      known.place = old.place;
      known.event = old.event;
      known.time = old.time;
      known.more = [];
      addEvents(known, [...old.more, ...events]);
    } else {
      if (known.inside && known.told.parent !== parent) this.tree.remove(known);
      addEvents(known, [old.event, ...old.more]);
    }
    this.tree.touch(known);
    return known;
  }

  /**
   * Drops the oldest items at the top, so that some are left. Those that events will tell of which are not dropped are kept out of sight, for
   * when the page that they began with comes again. Returns the first event that is kept.
   */
  trim(keep: number): string | undefined {
    const dropped = this.tree.dropFirst(keep);
    const from = this.tree.top.find((entry) => entry.event !== "");
    if (dropped.length === 0 || !from) return undefined;
    const kept = eventNumber(from.event);
    this.begun = false;
    this.waits.forgetBefore(from.time);
    // The pages tell of these again, at other places.
    if (this.ended !== undefined && this.ended < from.place) this.ended = undefined;
    if (this.gone !== undefined && this.gone < from.place) this.gone = undefined;
    if (this.back !== undefined && this.back < from.place) this.back = undefined;
    for (const entry of dropped) {
      const numbers = [entry.event, ...entry.more].map(eventNumber);
      if (eventNumber(entry.event) >= kept)
        this.refresh(entry); // of an agent that was called before
      else if (numbers.some((number) => number >= kept)) entry.parked = true;
      else this.forget(entry);
    }
    for (const event of [...this.byEvent.keys()]) if (eventNumber(event) < kept) this.byEvent.delete(event);
    return from.event;
  }

  private forget(entry: Entry): void {
    entry.parked = true; // also for whom it may still be known to, such as another line
    if (entry.key !== "") this.known.delete(entry.key);
    this.running.delete(entry.key);
    this.going.delete(entry);
    this.losses.delete(entry);
    const { line, task } = entry.told;
    if (task?.tool && this.tasks.get(task.tool) === entry) this.tasks.delete(task.tool);
    if (line) {
      const rest = (this.lines.get(line) ?? []).filter((other) => other !== entry);
      if (rest.length > 0) this.lines.set(line, rest);
      else this.lines.delete(line);
    }
  }
}
