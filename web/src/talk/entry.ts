import type { Json, Question, SandboxRefusal } from "../api/types";
import type { Block, Item, Notice, ToolResult, Turn } from "./item";
import type { JsonObject } from "./json";

/**
 * What events tell of one thing in the conversation. Several events may tell of one: what they tell is merged, and each member is the last
 * that was told. So it does not matter whether events are taken one by one or page by page.
 */
export interface Told {
  /** The tool call whose agent it belongs to. */
  parent?: string;
  by?: string;
  /** The uuid of the line, which may be retracted. */
  line?: string;

  // A text, or thinking.
  text?: string;
  failed?: boolean;
  redacted?: boolean;
  model?: string;

  // A prompt: as the hub was told it, and as a line has it.
  said?: readonly Block[];
  written?: readonly Block[];
  message?: { state: string; reason: string; clientId: string };
  /** The CLI itself has written that it is in the conversation. */
  echoed?: boolean;
  synthetic?: boolean;

  // A tool call.
  use?: string;
  call?: { name: string; input: JsonObject; started?: string };
  /** Its name, where only others tell it. */
  weakName?: string;
  result?: ToolResult;
  ended?: string;
  denied?: string;
  rule?: string;
  elapsed?: number;
  progress?: string;
  asked?: { id: string; open: boolean; cancelled?: boolean };

  question?: Question;
  refusal?: SandboxRefusal;
  notice?: Pick<Notice, "topic" | "level" | "title" | "detail" | "data">;
  /** It tells that the link to the agent was lost, which is of interest as long as that lasts. */
  lost?: boolean;
  /** A title for the notice that holds whatever is told later. */
  title?: string;
  unknown?: { type: string; raw: Json };
  task?: TaskTold;
  fate?: FateTold;
  /** A turn, without what it cost: the CLI tells the total of its process. */
  turn?: Omit<Turn, "id" | "kind" | "usd"> & { total: number };
}

/** What is told of a task in the background. */
export interface TaskTold {
  id: string;
  /** The tool call that started it. */
  tool?: string;
  kind?: string;
  description?: string;
  status?: string;
  summary?: string;
  use?: string;
  reason?: string;
  background?: boolean;
  /** It is not for people. */
  quiet?: boolean;
}

/** What the CLI did with a message. */
export interface FateTold {
  queued?: boolean;
  started?: boolean;
  /** Why it did not finish it: cancelled, discarded, refused. */
  dropped?: string;
}

/** An item with what it is made of. */
export interface Entry {
  /** That of the item: never changes. */
  readonly id: string;
  /** By which events find it; empty for what is told once. */
  readonly key: string;
  kind: Item["kind"];
  /** Entries are in the order of their places. */
  place: number;
  event: string;
  more: string[];
  time: string;
  /** An event told enough to show it. */
  shows: boolean;
  /** It was dropped at the top, and is kept because later events told of it. */
  parked: boolean;
  told: Told;

  // Where it stands, which only the tree changes.
  inside: boolean;
  home: Entry | undefined;
  children: Entry[];
  /** The item, as long as nothing has changed. */
  view: Item | undefined;
}

/** How many further events of an item are remembered. */
const mostMore = 200;

/** Adds what was told later. */
export function mergeTold(earlier: Told, later: Told): Told {
  const merged: Told = overlaid(earlier, later, (value) => value !== undefined);
  if (earlier.task && later.task) merged.task = overlaid(earlier.task, later.task, Boolean);
  if (earlier.fate && later.fate) merged.fate = overlaid(earlier.fate, later.fate, Boolean);
  return merged;
}

/** The members of both, the later one's if they count. */
function overlaid<T extends object>(earlier: T, later: T, counts: (value: unknown) => boolean): T {
  const merged = { ...earlier };
  for (const name of Object.keys(later) as (keyof T)[]) if (counts(later[name])) merged[name] = later[name];
  return merged;
}

/** Adds events to those of an item. */
export function addEvents(entry: Entry, events: readonly string[]): void {
  for (const event of events) {
    if (event !== "" && event !== entry.event && !entry.more.includes(event) && entry.more.length < mostMore)
      entry.more.push(event);
  }
}
