import type { Entry } from "./entry";
import { toolKey } from "./keys";
import { mayJoin } from "./rows";

/** How deep agents are nested; what is deeper stands at the top. */
const mostDepth = 32;

/**
 * Where entries stand: at the top, or within the tool call whose agent they belong to. What belongs to a call that is not there stands at the
 * top until it comes.
 */
export class Tree {
  top: Entry[] = [];
  /** The ids of what is another one now, is new or has gone. */
  changed = new Set<string>();
  /** Something came to the top, or went from there. */
  moved = false;
  /** What may be no row of its own. */
  readonly mayJoin = new Set<Entry>();

  private readonly known: ReadonlyMap<string, Entry>;
  private readonly byId = new Map<string, Entry>();
  /** What waits for a tool call, by its id. */
  private readonly orphans = new Map<string, Set<Entry>>();
  /** Ends of turns, by place. */
  private readonly turns: Entry[] = [];
  /** What the process had cost by the last turn that was dropped. */
  private dropped: number | undefined;

  constructor(known: ReadonlyMap<string, Entry>) {
    this.known = known;
  }

  get(id: string): Entry | undefined {
    return this.byId.get(id);
  }

  ids(): Iterable<string> {
    return this.byId.keys();
  }

  /** Says that an item looks otherwise now. */
  touch(entry: Entry): void {
    entry.view = undefined;
    if (!entry.inside) return;
    this.changed.add(entry.id);
    if (!mayJoin(entry)) return;
    this.mayJoin.add(entry);
    this.moved = true;
  }

  insert(entry: Entry): void {
    const home = this.homeOf(entry);
    put(home ? home.children : this.top, entry);
    this.settle(entry, home);
  }

  /** Puts entries of an older page among the items. Those at the top come before all others, or nearly so: they are put there at once. */
  front(entries: readonly Entry[]): void {
    const atTop: Entry[] = [];
    for (const entry of entries) {
      if (entry.inside) {
        this.touch(entry);
        continue;
      }
      const home = this.homeOf(entry);
      if (home) put(home.children, entry);
      else atTop.push(entry);
      this.settle(entry, home);
    }
    if (atTop.length === 0) return;
    // Orphans may have gone from the top into one of these meanwhile, and some of these into others.
    const here = atTop.filter((entry) => entry.home === undefined);
    this.top = [...here, ...this.top];
    if (!sorted(this.top)) this.top.sort((a, b) => a.place - b.place);
  }

  /** Notes where an entry stands now, and lets in what has waited for it. */
  private settle(entry: Entry, home: Entry | undefined): void {
    entry.inside = true;
    entry.home = home;
    this.byId.set(entry.id, entry);
    this.touch(entry);
    if (home) this.touch(home);
    else this.moved = true;
    const { parent, use } = entry.told;
    if (parent && !home) {
      const waiting = this.orphans.get(parent);
      if (waiting) waiting.add(entry);
      else this.orphans.set(parent, new Set([entry]));
    }
    if (entry.kind === "turn") put(this.turns, entry);
    if (use === undefined) return;
    const waiting = this.orphans.get(use);
    for (const orphan of waiting ?? []) {
      if (this.homeOf(orphan) !== entry) continue;
      waiting?.delete(orphan);
      take(this.top, orphan);
      this.moved = true;
      put(entry.children, orphan);
      orphan.home = entry;
      this.touch(entry);
    }
    if (waiting?.size === 0) this.orphans.delete(use);
  }

  remove(entry: Entry): void {
    this.leave(entry);
    take(entry.home ? entry.home.children : this.top, entry);
    if (entry.home) this.touch(entry.home);
    else this.moved = true;
    entry.home = undefined;
    const children = entry.children;
    entry.children = [];
    for (const child of children) {
      child.inside = false;
      this.insert(child);
    }
  }

  private leave(entry: Entry): void {
    this.touch(entry);
    entry.inside = false;
    this.byId.delete(entry.id);
    this.mayJoin.delete(entry);
    const { parent } = entry.told;
    if (parent) this.orphans.get(parent)?.delete(entry);
    if (entry.kind === "turn") take(this.turns, entry);
  }

  /** What belongs to the agent of a tool call, also if that is not there. */
  within(use: string): Iterable<Entry> {
    return [...(this.known.get(toolKey(use))?.children ?? []), ...(this.orphans.get(use) ?? [])];
  }

  /** The tool call that an entry stands in. Whoever says that it belongs to itself, by whatever way, stands at the top. */
  private homeOf(entry: Entry): Entry | undefined {
    const { parent } = entry.told;
    if (!parent) return undefined;
    const home = this.known.get(toolKey(parent));
    if (!home?.inside) return undefined;
    let above: Entry | undefined = home;
    for (let depth = 0; above; depth++) {
      if (above === entry || depth > mostDepth) return undefined;
      above = above.home;
    }
    return home;
  }

  /** Takes the oldest items from the top, with what stands in them. */
  dropFirst(keep: number): Entry[] {
    const dropped = this.top.splice(0, Math.max(this.top.length - keep, 0));
    if (dropped.length > 0) this.moved = true;
    for (let i = 0; i < dropped.length; i++) {
      const entry = dropped[i];
      if (!entry) continue;
      if (entry.told.turn) this.dropped = entry.told.turn.total;
      this.leave(entry);
      dropped.push(...entry.children);
      entry.children = [];
      entry.home = undefined;
    }
    const first = this.firstTurn();
    if (first) this.touch(first);
    return dropped;
  }

  /** Says that what was dropped comes again. */
  forgetDropped(): void {
    this.dropped = undefined;
  }

  firstTurn(): Entry | undefined {
    return this.turns[0];
  }

  /**
   * What a turn cost; undefined if that is not known. The CLI tells what its process has cost so far, so it depends on the turn before. A
   * process may also begin anew, or go on from what an earlier one has saved.
   */
  cost(turn: Entry, begun: boolean): number | undefined {
    const total = turn.told.turn?.total ?? 0;
    const before = this.turns[find(this.turns, turn.place) - 1];
    const spent = before ? (before.told.turn?.total ?? 0) : this.dropped;
    if (spent === undefined) return begun ? total : undefined;
    return total >= spent ? total - spent : total;
  }
}

/** Where the first of a place, or after it, stands. */
function find(list: readonly Entry[], place: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.place ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Puts an entry into a list by its place, after others of the same. */
function put(list: Entry[], entry: Entry): void {
  const last = list[list.length - 1];
  if (!last || last.place <= entry.place) list.push(entry);
  else list.splice(find(list, entry.place + 1), 0, entry);
}

function take(list: Entry[], entry: Entry): void {
  let at = find(list, entry.place);
  while (at < list.length && list[at] !== entry) at++;
  if (at < list.length) list.splice(at, 1);
}

function sorted(list: readonly Entry[]): boolean {
  return list.every((entry, i) => (list[i - 1]?.place ?? Number.NEGATIVE_INFINITY) <= entry.place);
}
