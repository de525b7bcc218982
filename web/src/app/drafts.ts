import { Cell } from "../store/readable";

const prefix = "switchboard.draft.";
/** How many drafts a browser keeps: beyond that the ones that were written first go. */
const mostDrafts = 60;
/** What is longer lasts as long as its tab: all drafts together must leave room in what a browser gives a page. */
const longest = 32_768;
/** How long a draft waits for somebody to come back. */
const oldest = 30 * 24 * 3600_000;

/**
 * How the tabs of a browser share a draft: "together" shows in each what is typed in any, so that nothing is sent twice; "apart" gives a
 * tab that is opened later what was typed before, and changes nothing under the hands of somebody who is about to decide.
 */
export type Sharing = "together" | "apart";

/**
 * Drafts that outlive their tab, kept in the browser for all tabs. What may hold secrets does not belong here: for that there are
 * those of the tab alone, and those of the memory.
 */
export class KeptDrafts {
  private readonly cells = new Map<string, { cell: Cell<string>; sharing: Sharing }>();
  private readonly local: Storage | undefined;
  private readonly tab: Storage | undefined;
  private readonly now: () => number;
  /** The draft that is just being taken from another tab: it is written there already. */
  private taking: string | undefined;
  /** What this tab has last read or written, by the names in the storage. */
  private readonly last = new Map<string, string>();

  constructor(local: Storage | undefined, tab: Storage | undefined, now: () => number = Date.now) {
    this.local = local;
    this.tab = tab;
    this.now = now;
    quietly(() => this.trim(undefined));
  }

  /** The draft of a key, such as "compose.SESSION". Set "" once it was sent. Components read it with useReadable. */
  draft(key: string, sharing: Sharing = "together"): Cell<string> {
    const known = this.cells.get(key);
    if (known) return known.cell;
    const cell = new Cell(this.read(prefix + key));
    cell.subscribe(() => {
      if (this.taking !== key) this.write(prefix + key, cell.get());
    });
    this.cells.set(key, { cell, sharing });
    return cell;
  }

  /** Takes note of what another tab has stored. */
  heard(name: string | null, stored: string | null): void {
    if (!name?.startsWith(prefix)) return;
    const key = name.slice(prefix.length);
    const known = this.cells.get(key);
    // What is gone from the storage was sent by nobody: room was needed, or somebody has cleared it.
    if (!known || known.sharing === "apart" || stored === null) return;
    // A text that only this tab has is not given up for one that began without it.
    if (quietly(() => this.tab?.getItem(name)) != null) return;
    const { text } = parsed(stored);
    this.last.set(name, text);
    this.taking = key;
    try {
      known.cell.set(text);
    } finally {
      this.taking = undefined;
    }
  }

  /** Reads what other tabs may have stored while this one was asleep and heard nothing. */
  awake(): void {
    for (const key of this.cells.keys()) this.heard(prefix + key, quietly(() => this.local?.getItem(prefix + key)) ?? null);
  }

  /** Forgets what is kept beyond this tab, for somebody who leaves a browser that others use. */
  forget(): void {
    quietly(() => {
      for (const name of this.names()) this.local?.removeItem(name);
    });
  }

  private read(name: string): string {
    const stored = quietly(() => this.tab?.getItem(name) ?? this.local?.getItem(name));
    const text = stored == null ? "" : parsed(stored).text;
    this.last.set(name, text);
    return text;
  }

  private write(name: string, text: string): void {
    const stored = `${this.now()}|${text}`;
    const before = this.last.get(name) ?? "";
    this.last.set(name, text);
    const kept = text.length <= longest && quietly(() => this.keep(name, stored, text === "" ? before : undefined)) === true;
    quietly(() => {
      if (kept || text === "") this.tab?.removeItem(name);
      else this.tab?.setItem(name, stored);
    });
    // What is kept must not be older than what the tab has: it would come back one day.
    if (!kept) quietly(() => this.local?.removeItem(name));
  }

  /**
   * Stores a draft for all tabs. One that was sent leaves an empty one behind, from which a tab that was asleep learns of it; what
   * another tab has stored instead of it stays.
   */
  private keep(name: string, stored: string, sent: string | undefined): boolean {
    if (!this.local) return false;
    const there = this.local.getItem(name);
    if (sent !== undefined && (there === null || parsed(there).text !== sent)) return true;
    this.local.setItem(name, stored);
    if (there === null) this.trim(name);
    return true;
  }

  /** Removes what is too old or too much, the empty ones first, but not the one that was just written. */
  private trim(written: string | undefined): void {
    const all = this.names()
      .filter((name) => name !== written)
      .map((name) => ({ name, ...parsed(this.local?.getItem(name) ?? "") }))
      .sort((a, b) => Number(a.text !== "") - Number(b.text !== "") || a.time - b.time);
    const room = mostDrafts - (written === undefined ? 0 : 1);
    for (const [n, { name, time }] of all.entries()) {
      if (n < all.length - room || this.now() - time > oldest) this.local?.removeItem(name);
    }
  }

  private names(): string[] {
    const { local } = this;
    if (!local) return [];
    return Array.from({ length: local.length }, (_, i) => local.key(i)).filter(
      (name): name is string => name?.startsWith(prefix) === true,
    );
  }
}

/** What is stored begins with the time at which it was written: storage has no order that could be relied on. */
function parsed(stored: string): { time: number; text: string } {
  const bar = stored.indexOf("|");
  return { time: Number.parseInt(stored, 10) || 0, text: stored.slice(bar + 1) };
}

/** Does something with a storage, which may be full or forbidden: drafts then last as long as the page. */
function quietly<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const drafts = new KeptDrafts(
  quietly(() => globalThis.localStorage),
  quietly(() => globalThis.sessionStorage),
);

globalThis.addEventListener?.("storage", (e) => {
  // A storage event tells of either storage; that of a tab is its own affair.
  if (e.storageArea !== quietly(() => globalThis.sessionStorage)) drafts.heard(e.key, e.newValue);
});
globalThis.addEventListener?.("pageshow", () => drafts.awake());
globalThis.document?.addEventListener("visibilitychange", () => drafts.awake());

/** A draft that outlives its tab. */
export const keptDraft = (key: string, sharing?: Sharing): Cell<string> => drafts.draft(key, sharing);

/** Forgets the drafts of this browser, but not what this page shows. */
export const forgetKeptDrafts = (): void => drafts.forget();
