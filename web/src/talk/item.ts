import type { Json, Question, SandboxRefusal, Task } from "../api/types";

/** What a conversation consists of. Items are never changed in place: a change makes another object with the same id. */
export type Item = Prompt | Text | Thinking | Tool | Ask | Turn | Notice | Refusal | Unknown;

interface Base {
  /** Stable, also when a message that was being written becomes a whole one. */
  readonly id: string;
  /** The event that it came with, for links and the raw view; absent while it is being written. */
  readonly event?: string;
  /** Further events that belong to it: a tool's result, progress, the rest of a message. */
  readonly more?: readonly string[];
  readonly time?: string;
  /** The id of the tool item whose sub-agent it belongs to. */
  readonly parent?: string;
  /** It is being written. */
  readonly streaming?: boolean;
  /** Who: the name of a token or user. */
  readonly by?: string;
}

export type Block =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data?: string; url?: string }
  | { type: "document"; mediaType?: string; title?: string; text?: string; data?: string }
  | { type: "other"; raw: Json };

/** What somebody, or a program, told the agent. */
export interface Prompt extends Base {
  readonly kind: "prompt";
  readonly blocks: readonly Block[];
  /** The uuid by which the CLI knows it: what rewind and fork take. */
  readonly uuid?: string;
  readonly clientId?: string;
  /** How far it has come: queued, sent, written, picked_up, not_delivered, unknown; absent if it is in the conversation. */
  readonly delivery?: string;
  readonly reason?: string;
  /** Nobody typed it: the output of a command, a task's notification, a summary after compaction. */
  readonly synthetic?: boolean;
}

export interface Text extends Base {
  readonly kind: "text";
  readonly text: string;
  readonly uuid?: string;
  readonly model?: string;
  /** It is an error of the API, which the CLI writes as if the agent had said it. */
  readonly failed?: boolean;
}

export interface Thinking extends Base {
  readonly kind: "thinking";
  readonly text: string;
  readonly redacted?: boolean;
}

export interface Tool extends Base {
  readonly kind: "tool";
  readonly use: string; // the tool_use id
  readonly name: string;
  readonly input: { readonly [name: string]: Json };
  /** The input as far as it is written, while it streams. */
  readonly inputText?: string;
  readonly state: "writing" | "running" | "asking" | "done" | "failed" | "denied" | "stopped";
  readonly result?: ToolResult;
  readonly started?: string;
  readonly ended?: string;
  /** For how many milliseconds of that people were waited for. */
  readonly waited?: number;
  /** When the wait began that goes on, by the clock, in milliseconds. */
  readonly waitsSince?: number;
  /** Seconds that the CLI says it has been running. */
  readonly elapsed?: number;
  /** The newest line of its progress. */
  readonly progress?: string;
  /** The items of its sub-agent, in order. */
  readonly children: readonly string[];
  /** The background task that it became. */
  readonly task?: Task & {
    /** pending, running, paused, completed, failed, killed, stopped, … */
    state?: string;
    /** What it said last: its report, once it is over. */
    summary?: string;
    /** What it has used, in words. */
    use?: string;
    /** The CLI has said that the agent goes on without waiting for it. */
    background?: boolean;
  };
  /** The question that it waits for, or was decided by. */
  readonly question?: string;
  /** Why it was not permitted. */
  readonly denied?: string;
  /** Which rule permitted it without a question. */
  readonly rule?: string;
  /** What the sandbox refused while it ran. */
  readonly refusals?: readonly SandboxRefusal[];
}

export interface ToolResult {
  readonly blocks: readonly Block[];
  /** The text blocks together. */
  readonly text: string;
  readonly failed: boolean;
  /** The CLI's own structured result (tool_use_result): patches, exit codes, counts. */
  readonly structured?: Json;
}

export interface Ask extends Base {
  readonly kind: "question";
  readonly question: Question;
}

/** The end of a turn. */
export interface Turn extends Base {
  readonly kind: "turn";
  readonly subtype: string;
  readonly failed: boolean;
  readonly interrupted: boolean;
  readonly error?: string;
  readonly usd?: number;
  readonly ms?: number;
  readonly turns?: number;
  readonly tokens?: { input: number; output: number; cacheRead: number; cacheWrite: number };
  readonly denials?: number;
  /** The structured answer that was asked for. */
  readonly output?: Json;
}

/** Something that is neither said nor done by the agent: of the CLI, or of the hub. */
export interface Notice extends Base {
  readonly kind: "notice";
  /** What it is about: started, ended, offline, gap, compaction, hook, rate_limit, retry, error, login, files, mode, model, rule, decision, hold, budget, task, … */
  readonly topic: string;
  readonly level: "dim" | "info" | "warn" | "bad";
  /** One line. */
  readonly title: string;
  readonly detail?: string;
  readonly data?: Json;
}

/** Something that the sandbox of the agent refused. With a call that is there it is told in that. */
export interface Refusal extends Base {
  readonly kind: "refusal";
  readonly refusal: SandboxRefusal;
}

/** A line of a type that this console does not know; it is shown as it is. */
export interface Unknown extends Base {
  readonly kind: "unknown";
  readonly type: string;
  readonly raw: Json;
}
