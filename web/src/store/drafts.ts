import { Cell } from "./readable";

const prefix = "switchboard.draft.";
/** Drafts of questions that were settled elsewhere stay behind: beyond this many the ones that were written first go. */
const mostDrafts = 200;

/** Makes drafts: texts that somebody has typed and not sent, which outlive a reload of the tab. */
export function createDrafts(storage: Storage | undefined): (key: string) => Cell<string> {
  const cells = new Map<string, Cell<string>>();
  return (key) => {
    const known = cells.get(key);
    if (known) return known;
    const cell = new Cell(read(storage, prefix + key));
    cell.subscribe(() => write(storage, prefix + key, cell.get()));
    cells.set(key, cell);
    return cell;
  };
}

// What is stored begins with the time at which it was written: storage has no order that could be relied on.

function read(storage: Storage | undefined, key: string): string {
  try {
    return storage?.getItem(key)?.replace(/^\d+\|/, "") ?? "";
  } catch {
    return "";
  }
}

function write(storage: Storage | undefined, key: string, text: string): void {
  try {
    if (text === "") {
      storage?.removeItem(key);
      return;
    }
    storage?.setItem(key, `${Date.now()}|${text}`);
    trim(storage);
  } catch {
    // The storage is full or forbidden: the cell still holds the text, as long as the tab is there.
  }
}

function trim(storage: Storage | undefined): void {
  if (!storage || storage.length <= mostDrafts) return;
  const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i)).filter(
    (k): k is string => !!k?.startsWith(prefix),
  );
  const written = (key: string) => Number.parseInt(storage.getItem(key) ?? "", 10) || 0;
  keys.sort((a, b) => written(a) - written(b));
  for (const key of keys.slice(0, Math.max(0, keys.length - mostDrafts))) storage.removeItem(key);
}

function tabStorage(): Storage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}

/**
 * The draft of a key, such as "rules-file": what is set is there again after a reload of the tab, and gone with it (app/drafts keeps longer).
 * Set "" once it was sent. Components read it with useReadable.
 */
export const draft = createDrafts(tabStorage());

/** The same for what may hold secrets, such as the environment of a program: it is there as long as the page is, and written nowhere. */
export const secretDraft = createDrafts(undefined);
