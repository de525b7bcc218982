import type { SessionSummary } from "../api/types";
import { remembered } from "../ui/remembered";
import { Cell } from "./readable";

/** What this browser has seen of sessions: times of the hub, in milliseconds. */
export interface Seen {
  /** What happened up to then counts as seen; undefined until the list was read for the first time. */
  readonly since?: number;
  /** The last activity that somebody has looked at, by session. */
  readonly byId: ReadonlyMap<string, number>;
}

/** What a row says of a session that something happened in since somebody looked at it. */
export type Mark = "unread" | "finished";

const storageKey = "switchboard.seen";
/** How many sessions are remembered; those that were looked at longest ago go first. */
export const mostSeen = 500;

/** Reads what was kept; whatever does not fit is left out. */
export function readSeen(text: string | null): Seen {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "");
  } catch {
    return { byId: new Map() };
  }
  if (typeof kept !== "object" || kept === null) return { byId: new Map() };
  const { since, byId }: { since?: unknown; byId?: unknown } = kept;
  const times = typeof byId === "object" && byId !== null ? Object.entries(byId) : [];
  return {
    ...(typeof since === "number" && { since }),
    byId: new Map(times.filter((entry): entry is [string, number] => typeof entry[1] === "number").slice(0, mostSeen)),
  };
}

/** Notes that a session was looked at, as it was at a time. */
export function looked(seen: Seen, id: string, at: number): Seen {
  if (!(at > (seen.byId.get(id) ?? 0))) return seen;
  const byId = new Map(seen.byId).set(id, at);
  if (byId.size <= mostSeen) return { ...seen, byId };
  const [oldest] = [...byId].sort((a, b) => a[1] - b[1]);
  if (oldest) byId.delete(oldest[0]);
  return { since: Math.max(seen.since ?? 0, oldest?.[1] ?? 0), byId };
}

/** Begins with a list: what is in it when a browser sees it for the first time is not news. */
export function begun(seen: Seen, sessions: Iterable<SessionSummary>): Seen {
  if (seen.since !== undefined) return seen;
  let since = 0;
  for (const session of sessions) since = Math.max(since, Date.parse(session.updated) || 0);
  return { ...seen, since };
}

/** How a session is marked. One that failed, waits for an answer or has ended says so itself. */
export function markOf(seen: Seen, session: SessionSummary): Mark | undefined {
  if (seen.since === undefined || session.archived) return undefined;
  if (!((Date.parse(session.updated) || 0) > (seen.byId.get(session.id) ?? seen.since))) return undefined;
  return session.state === "idle" && !session.failed && session.questions === 0 ? "finished" : "unread";
}

/** What this browser has seen, for all of its tabs. */
export const seen = new Cell<Seen>(readSeen(remembered.get(storageKey)));

/** Changes what was seen, and keeps it. Another tab may have seen something meanwhile. */
export function see(change: (seen: Seen) => Seen): void {
  const before = seen.get();
  const after = change(before);
  if (after === before) return;
  seen.set(after);
  remembered.set(storageKey, JSON.stringify({ since: after.since, byId: Object.fromEntries(after.byId) }));
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", (e) => {
    if (e.key === storageKey) seen.set(readSeen(e.newValue));
  });
}
