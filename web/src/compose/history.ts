/** What was sent before, and to which session. */
interface Sent {
  readonly session: string;
  readonly text: string;
}

const key = "switchboard.history";
const mostEntries = 500;
/** What is longer was pasted, and is found elsewhere. */
const longest = 16_384;
/** How many characters the whole history may have, so that it does not use up what a browser gives a page. */
const mostCharacters = 1_000_000;

/** The texts that were sent, kept in the browser for all tabs, the oldest first. */
export function createHistory(storage: Storage | undefined) {
  function read(): readonly Sent[] {
    try {
      const list: unknown = JSON.parse(storage?.getItem(key) ?? "[]");
      return Array.isArray(list) ? list.filter(isSent) : [];
    } catch {
      return []; // forbidden, or written by somebody else
    }
  }
  return {
    /** Remembers a text, unless it is the last one already. */
    add(session: string, text: string): void {
      if (text.trim() === "" || text.length > longest) return;
      const list = read().filter((e) => !(e.session === session && e.text === text));
      let kept = [...list, { session, text }].slice(-mostEntries);
      let size = kept.reduce((sum, e) => sum + e.text.length, 0);
      while (size > mostCharacters && kept.length > 1) {
        size -= kept[0]?.text.length ?? 0;
        kept = kept.slice(1);
      }
      try {
        storage?.setItem(key, JSON.stringify(kept));
      } catch {
        // The storage is full or forbidden: nothing is remembered, and nothing else is lost.
      }
    },
    /** What up goes through: the texts of this session, the newest first, then those of all others. */
    of(session: string): readonly string[] {
      const newest = [...read()].reverse();
      return [...new Set([...newest.filter((e) => e.session === session), ...newest].map((e) => e.text))];
    },
  };
}

function isSent(entry: unknown): entry is Sent {
  return (
    typeof entry === "object" &&
    entry !== null &&
    "session" in entry &&
    typeof entry.session === "string" &&
    "text" in entry &&
    typeof entry.text === "string"
  );
}

/** Whether the cursor is in the first or the last line, where up and down leave the text. */
export function atEdge(text: string, pos: number, way: "up" | "down"): boolean {
  return way === "up" ? !text.slice(0, pos).includes("\n") : !text.slice(pos).includes("\n");
}
