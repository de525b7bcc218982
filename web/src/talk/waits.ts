import type { Entry } from "./entry";
import { toolKey } from "./keys";

/** A time in which people were waited for. */
interface Wait {
  /** The call that waited; empty for what is not about one. */
  readonly use: string;
  readonly from: number;
  /** Absent while it goes on. */
  readonly to?: number;
}

/** How long a call waited. */
export interface Waited {
  /** In milliseconds, without a wait that goes on. */
  readonly ms: number;
  /** When the wait that goes on began, by the clock. */
  readonly since?: number;
}

/** How deep agents are looked up. */
const mostDepth = 32;

/** When people were waited for: a tool does nothing meanwhile, so that is no time that it took. */
export class Waits {
  private readonly all = new Map<string, Wait>();
  private readonly known: ReadonlyMap<string, Entry>;

  constructor(known: ReadonlyMap<string, Entry>) {
    this.known = known;
  }

  /** Notes when a question was opened and settled, if that can be known. Returns whether that is news. */
  note(question: string, use: string, opened: string, settled: string): boolean {
    const [from, to] = [Date.parse(opened), Date.parse(settled)];
    if (Number.isNaN(from)) return false;
    this.all.set(question, { use, from, ...(!Number.isNaN(to) && { to: Math.max(from, to) }) });
    return true;
  }

  /** Adds what an older page tells. */
  addOlder(older: Waits): void {
    for (const [question, wait] of older.all) if (!this.all.has(question)) this.all.set(question, wait);
  }

  /** Forgets what was over before a time. */
  forgetBefore(time: string): void {
    const first = Date.parse(time);
    for (const [question, wait] of this.all) if (wait.to !== undefined && wait.to < first) this.all.delete(question);
  }

  /** How long a call waited between its beginning and its end, or until now. */
  of(call: Entry, started: string, ended: string | undefined): Waited {
    const begin = Date.parse(started);
    const end = ended === undefined ? Number.POSITIVE_INFINITY : Date.parse(ended);
    const spans: (readonly [number, number])[] = [];
    for (const { use, from, to = Number.POSITIVE_INFINITY } of this.all.values()) {
      // One that was never settled holds nothing up that came later.
      const within = to > begin && from < end && (from >= begin || to < Number.POSITIVE_INFINITY);
      if (within && this.holds(use, call)) spans.push([Math.max(from, begin), Math.min(to, end)]);
    }
    let [ms, reach, since] = [0, begin, undefined as number | undefined];
    for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
      if (to === Number.POSITIVE_INFINITY) since ??= Math.max(from, reach);
      else if (since === undefined) ms += Math.max(to - Math.max(from, reach), 0);
      reach = Math.max(reach, to);
    }
    return { ms, ...(since !== undefined && { since }) };
  }

  /** Whether a call cannot go on while another waits: it is that, calls its agent, or is called by the same one and has its turn later. */
  private holds(use: string, call: Entry): boolean {
    let asking = this.known.get(toolKey(use));
    if (!asking || asking === call || (asking.told.parent ?? "") === (call.told.parent ?? "")) {
      return asking !== undefined || !call.told.parent;
    }
    for (let depth = 0; asking?.told.parent && depth < mostDepth; depth++) {
      asking = this.known.get(toolKey(asking.told.parent));
      if (asking === call) return true;
    }
    return false;
  }
}
