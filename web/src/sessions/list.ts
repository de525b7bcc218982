import type { SessionSummary } from "../api/types";
import { sessionsTexts as t } from "../texts/sessions";
import { stateWord } from "../ui/signs";
import { visible } from "../ui/visible";

export type StateFilter = "all" | "waiting" | "failed" | "working" | "idle" | "ended";
export type Grouping = "none" | "dir" | "state";
export type Sorting = "updated" | "created" | "usd" | "title";

/** How somebody wants to see the list. */
export interface View {
  text: string;
  states: StateFilter;
  group: Grouping;
  sort: Sorting;
}

/** A row of the list: a heading, or a session. */
export type Row =
  | { kind: "group"; id: string; label: string /** The whole path of a folder. */; full?: string; count: number }
  | { kind: "session"; id: string; session: SessionSummary };

/** What a session is called: its title, which agents may have given it, else the folder that it works in. */
export function titleOf(session: Pick<SessionSummary, "title" | "dir">): string {
  const title = session.title?.trim();
  if (title) return visible(title);
  const folder = visible(lastPart(session.dir ?? ""));
  return folder ? t.untitledIn(folder) : t.untitled;
}

/** The last part of a path. */
export function lastPart(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  return parts.at(-1) ?? path;
}

/** While it does one of these, a session is at another turn than the one that failed. */
const atWork: readonly string[] = ["requires_action", "running", "starting"];

/** The state that people are shown: what the session is doing, unless it waits for somebody or has failed. */
export function stateOf(session: Pick<SessionSummary, "state" | "questions" | "failed">): string {
  if (session.questions > 0) return "requires_action";
  return session.failed && !atWork.includes(session.state) ? "failed" : session.state;
}

/** Which of the filters a session falls under, besides all. */
export function filterOf(session: SessionSummary): Exclude<StateFilter, "all"> {
  const state = stateOf(session);
  if (state === "requires_action") return "waiting";
  if (state === "failed") return "failed";
  switch (session.state) {
    case "ended":
      return "ended";
    case "starting":
    case "running":
    case "background":
    case "offline": // the hub has lost sight of it, which does not stop the agent
      return "working";
    default:
      return "idle";
  }
}

/** How many sessions each filter shows. */
export function countStates(sessions: Iterable<SessionSummary>): Record<StateFilter, number> {
  const counts = { all: 0, waiting: 0, failed: 0, working: 0, idle: 0, ended: 0 };
  for (const session of sessions) {
    counts.all++;
    counts[filterOf(session)]++;
  }
  return counts;
}

function fits(session: SessionSummary, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text =
    `${session.title ?? ""} ${session.dir ?? ""} ${session.model ?? ""} ${session.node ?? ""} ${session.id}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The order of the groups of states: those that wait for somebody come first. */
const stateOrder: readonly string[] = [
  "requires_action",
  "failed",
  "running",
  "starting",
  "background",
  "idle",
  "offline",
  "ended",
];

/** Times of the server are all in UTC, so that texts can be compared, but with fractions of different lengths. */
function newest(a: string, b: string): number {
  return (Date.parse(b) || 0) - (Date.parse(a) || 0);
}

function comparer(sort: Sorting): (a: SessionSummary, b: SessionSummary) => number {
  const byTime = (a: SessionSummary, b: SessionSummary): number => newest(a.updated, b.updated) || a.id.localeCompare(b.id);
  switch (sort) {
    case "updated":
      return (a, b) => rank(a) - rank(b) || byTime(a, b);
    case "created":
      return (a, b) => newest(a.created, b.created) || a.id.localeCompare(b.id);
    case "usd":
      return (a, b) => b.usd - a.usd || byTime(a, b);
    case "title":
      return (a, b) => titleOf(a).localeCompare(titleOf(b), "en", { numeric: true }) || byTime(a, b);
  }
}

/** Those that wait for somebody are first, those that have ended last. */
function rank(session: SessionSummary): number {
  switch (filterOf(session)) {
    case "waiting":
      return 0;
    case "ended":
      return 2;
    default:
      return 1;
  }
}

/** The rows of the list. */
export function arrange(sessions: Iterable<SessionSummary>, view: View): Row[] {
  const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = [...sessions].filter((s) => (view.states === "all" || filterOf(s) === view.states) && fits(s, words));
  shown.sort(comparer(view.sort));
  const row = (session: SessionSummary): Row => ({ kind: "session", id: session.id, session });
  if (view.group === "none") return shown.map(row);

  // Whatever it is grouped by, what waits for somebody is not to be looked for further down.
  const waits = (session: SessionSummary): boolean => view.group === "dir" && filterOf(session) === "waiting";
  const first: Row[] = shown.filter(waits).map(row);
  if (first.length > 0) first.unshift({ kind: "group", id: "waiting", label: stateWord("requires_action"), count: first.length });

  const groups = new Map<string, SessionSummary[]>();
  for (const session of shown) {
    if (waits(session)) continue;
    const key = view.group === "dir" ? placeKey(session) : stateOf(session);
    const group = groups.get(key);
    if (group) group.push(session);
    else groups.set(key, [session]);
  }
  // Groups of folders come in the order of their first sessions; a Map keeps that.
  const keys = [...groups.keys()];
  if (view.group === "state") keys.sort((a, b) => place(a) - place(b) || a.localeCompare(b));
  const labels = view.group === "dir" ? folderLabels([...new Set(keys.map((key) => placeOf(key).dir))]) : undefined;
  const rest = keys.flatMap((key): Row[] => {
    const members = groups.get(key) ?? [];
    const { dir, node } = placeOf(key);
    const heading: Row = {
      kind: "group",
      id: `group:${key}`,
      label: labels ? visible([labels.get(dir) ?? dir, node].filter(Boolean).join(" · ")) : stateWord(key),
      full: labels ? [dir, node].filter(Boolean).join(" · ") : undefined,
      count: members.length,
    };
    return [heading, ...members.map(row)];
  });
  return [...first, ...rest];
}

/** Folders of the same path on two machines are two: the machine stands before the path, apart by what no name holds. */
function placeKey({ dir = "", node }: SessionSummary): string {
  return node ? `${node}\0${dir}` : dir;
}

function placeOf(key: string): { dir: string; node?: string } {
  const at = key.indexOf("\0");
  return at < 0 ? { dir: key } : { dir: key.slice(at + 1), node: key.slice(0, at) };
}

function place(state: string): number {
  const at = stateOrder.indexOf(state);
  return at < 0 ? stateOrder.length : at;
}

/** Names folders by their last parts, by as many as are needed to tell them apart. */
export function folderLabels(paths: readonly string[]): Map<string, string> {
  const labels = new Map<string, string>();
  const split = new Map(paths.map((path) => [path, path.split("/").filter(Boolean)]));
  for (let depth = 1, left = [...paths]; left.length > 0; depth++) {
    const named = new Map<string, string[]>();
    for (const path of left) {
      const label = (split.get(path) ?? []).slice(-depth).join("/") || (path === "" ? t.noFolder : path);
      named.set(label, [...(named.get(label) ?? []), path]);
    }
    left = [];
    for (const [label, same] of named) {
      for (const path of same) {
        if (same.length === 1 || depth >= (split.get(path)?.length ?? 0))
          labels.set(path, depth >= (split.get(path)?.length ?? 0) && path ? path : label);
        else left.push(path);
      }
    }
  }
  return labels;
}

/** The name of a model without what all of them have: "claude-opus-4-1-20250805" is "opus-4-1". */
export function shortModel(model: string): string {
  return model.replace(/^claude-/, "").replace(/-\d{8}$/, "");
}
