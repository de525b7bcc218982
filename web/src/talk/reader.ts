import type { Event, Json } from "../api/types";
import { talkTexts as t } from "../texts/talk";
import { blocksPlain, blocksText, contentBlocks, mostBlocks } from "./blocks";
import type { Entry, Told } from "./entry";
import { hubEvent } from "./hubEvents";
import type { Notice, ToolResult, Turn } from "./item";
import { arr, at, bool, clip, isObject, type JsonObject, num, obj, oneLine, str } from "./json";
import { bounded, lineKey, promptKey, toolKey } from "./keys";
import { noticeLine } from "./notices";
import type { Draft, Part, Stamp } from "./part";

/** Lines that are for programs: requests are told by the hub as questions, pieces of a message are live. */
const notForPeople = new Set([
  "stream_event",
  "control_request",
  "control_response",
  "control_cancel_request",
  "keep_alive",
  "update_environment_variables",
]);

/** What errors begin with that the CLI writes for its makers. */
const forMakers = "[ede_diagnostic]";

/** Types of lines that are found in transcripts only, and say nothing to a person. */
const housekeeping = new Set([
  "summary",
  "file-history-snapshot",
  "queue-operation",
  "last-prompt",
  "attachment",
  "progress",
  "permission-mode",
  "mode",
  "custom-title",
  "ai-title",
  "tag",
  "agent-name",
  "agent-color",
  "worktree-state",
  "content-replacement",
  "pr-link",
]);

/** Turns an event into entries of a part. */
export class Reader {
  readonly part: Part;
  readonly source: Event;
  readonly stamp: Stamp;
  /** The ids that the blocks of the line have had while they were being written. */
  heirs: readonly (string | undefined)[] = [];

  constructor(part: Part, source: Event) {
    this.part = part;
    this.source = source;
    const told = source.kind === "history" ? str(source.line, "timestamp") : "";
    this.stamp = { event: source.id ?? "", time: told || (source.time ?? ""), run: source.run ?? 0 };
  }

  event(): void {
    switch (this.source.kind) {
      case "line":
      case "live":
      case "history":
        this.line();
        break;
      case "sent":
        this.sent();
        break;
      default:
        hubEvent(this);
    }
  }

  add(draft: Draft): Entry {
    return this.part.add(this.stamp, draft);
  }

  /** Adds what is neither said nor done by the agent. A title of several lines is cut into a title and its detail. */
  notice(
    topic: string,
    level: Notice["level"],
    title: string,
    more: { key?: string; detail?: string; data?: Json; by?: string; lost?: boolean } = {},
  ): void {
    const [head = "", ...rest] = title.trim().split("\n");
    const detail = [...rest, more.detail?.trim() ?? ""].join("\n").trim();
    this.add({
      kind: "notice",
      key: more.key ?? "",
      shows: true,
      told: {
        ...(more.by && { by: oneLine(more.by) }),
        ...(more.lost && { lost: true }),
        notice: {
          topic,
          level,
          title: oneLine(head) || topic.replaceAll("_", " "),
          ...(detail !== "" && { detail }),
          ...(more.data !== undefined && { data: more.data }),
        },
      },
    });
  }

  /** Adds what is not known, as it came. */
  unknown(type: string, raw: Json, parent = ""): void {
    this.add({ kind: "unknown", shows: true, told: { ...(parent !== "" && { parent }), unknown: { type, raw } } });
  }

  /** The label of a line that is not JSON, with what the hub could still read of it. */
  private brokenLabel(): string {
    const { data } = this.source;
    if (!isObject(data) || !bool(data, "broken")) return "line";
    return t.brokenLine(bool(data, "init"), str(data, "conversation"));
  }

  /** Reads a line that the CLI wrote. */
  private line(): void {
    const { line, text, base64 } = this.source;
    if (isObject(line)) this.message(line);
    else if (line !== undefined) this.unknown("line", line);
    else if (text) this.unknown(this.brokenLabel(), text);
    else if (base64) this.unknown(this.brokenLabel(), t.bytes(Math.floor((base64.length * 3) / 4)));
  }

  private message(line: JsonObject): void {
    const type = str(line, "type");
    switch (type) {
      case "assistant":
        this.assistant(line);
        return;
      case "user":
        this.user(line);
        return;
      case "result":
        this.turn(line);
        return;
      case "streamlined_text":
        this.text(line);
        return;
      case "tool_progress":
        this.progress(line);
        return;
    }
    if (notForPeople.has(type) || noticeLine(this, line)) return;
    const name = [type, str(line, "subtype")].filter(Boolean).join("/");
    if (this.source.kind === "history") {
      if (housekeeping.has(type)) return;
      const content = str(line, "content");
      if (type === "system" && content.trim() !== "") {
        this.notice(str(line, "subtype"), "dim", content);
        return;
      }
    }
    this.unknown(name === "" ? "line" : name, line);
  }

  /** Reads what the agent says and which tools it calls. */
  private assistant(line: JsonObject): void {
    this.part.retract(arr(line, "supersedes").filter((uuid) => typeof uuid === "string"));
    const content = at(line, "message", "content");
    if (!Array.isArray(content)) {
      this.unknown("assistant", line, str(line, "parent_tool_use_id"));
      return;
    }
    if (content.length > mostBlocks) this.notice("blocks", "warn", t.blocksLeft(content.length - mostBlocks));
    for (const [n, block] of content.slice(0, mostBlocks).entries()) this.block(line, block, n);
    this.apiError(str(line, "error"));
  }

  private block(line: JsonObject, block: Json, n: number): void {
    const uuid = str(line, "uuid");
    const parent = str(line, "parent_tool_use_id");
    const model = str(line, "message", "model");
    const type = str(block, "type");
    const by = oneLine(str(line, "subagent_type"));
    const add = (kind: "text" | "thinking", told: Told): void => {
      this.add({
        kind,
        key: uuid === "" ? "" : `${bounded("line:", uuid)}.${n}`,
        id: this.heirs[n],
        shows: true,
        told: { ...whose(parent, by), ...(uuid !== "" && { line: uuid }), ...told },
      });
    };
    switch (type) {
      case "text":
        if (str(block, "text").trim() !== "") {
          add("text", {
            text: str(block, "text"),
            ...(model !== "" && { model }),
            ...(str(line, "error") !== "" && { failed: true }),
          });
        }
        break;
      case "thinking":
        if (str(block, "thinking").trim() !== "") add("thinking", { text: str(block, "thinking") });
        break;
      case "redacted_thinking":
        add("thinking", { text: "", redacted: true });
        break;
      case "tool_use":
      case "server_tool_use":
        this.call(line, str(block, "id"), str(block, "name"), obj(block, "input"));
        break;
      case "mcp_tool_use":
        this.call(line, str(block, "id"), `mcp__${str(block, "server_name")}__${str(block, "name")}`, obj(block, "input"));
        break;
      case "compaction":
        this.notice("compaction", "info", t.compactedBlock, { detail: str(block, "content") });
        break;
      case "fallback":
        this.notice("model", "warn", t.fallback(str(block, "to", "model"), str(block, "from", "model")));
        break;
      default:
        if (type.endsWith("tool_result")) this.served(obj(block), parent, type.replace(/_?tool_result$/, ""));
        else this.unknown(type === "" ? "block" : type, block, parent);
    }
  }

  /** Tells of an error that ended up in the conversation, where somebody can do something about it. */
  private apiError(error: string): void {
    switch (error) {
      case "authentication_failed":
      case "oauth_org_not_allowed":
      case "verification_required":
        this.notice("login", "bad", t.notLoggedIn);
        break;
      case "billing_error":
      case "account_on_hold":
        this.notice("account", "bad", t.account(error));
        break;
    }
  }

  private call(line: JsonObject, use: string, name: string, input: JsonObject): void {
    const uuid = str(line, "uuid");
    this.tool(use, true, {
      ...whose(str(line, "parent_tool_use_id"), oneLine(str(line, "subagent_type"))),
      ...(uuid !== "" && { line: uuid }),
      call: { name: oneLine(name), input, ...(this.stamp.time !== "" && { started: this.stamp.time }) },
    });
  }

  /** Adds what is told of a tool call. */
  tool(use: string, shows: boolean, told: Told): void {
    this.add({ kind: "tool", key: use === "" ? "" : toolKey(use), shows, told: { ...(use !== "" && { use }), ...told } });
  }

  /** Reads a result of a tool that the API itself runs. */
  private served(block: JsonObject, parent: string, weakName: string): void {
    const content = at(block, "content");
    const failed = bool(block, "is_error") || str(content, "type").endsWith("_error");
    const blocks = contentBlocks(content);
    const raw = content !== undefined && typeof content !== "string" ? content : undefined;
    const result = { blocks, text: blocksText(blocks), failed, ...(raw !== undefined && { structured: raw }) };
    this.answer(str(block, "tool_use_id"), parent, result, weakName);
  }

  private answer(use: string, parent: string, result: ToolResult, weakName = ""): void {
    this.tool(use, true, {
      ...whose(parent, ""),
      ...(weakName !== "" && { weakName }),
      result,
      ...(this.stamp.time !== "" && { ended: this.stamp.time }),
    });
  }

  /** Reads what tools gave, and prompts. */
  private user(line: JsonObject): void {
    const parent = str(line, "parent_tool_use_id");
    const content = at(line, "message", "content");
    for (const block of Array.isArray(content) ? content.slice(0, mostBlocks) : []) {
      if (str(block, "type") !== "tool_result") continue;
      const blocks = contentBlocks(at(block, "content"));
      const structured = at(line, "tool_use_result") ?? at(line, "toolUseResult"); // as transcripts call it
      this.answer(str(block, "tool_use_id"), parent, {
        blocks,
        text: blocksText(blocks),
        failed: bool(block, "is_error"),
        ...(structured !== undefined && structured !== null && { structured }),
      });
    }
    if (typeof content !== "string" && !Array.isArray(content)) {
      this.unknown("user", line, parent);
      return;
    }
    const blocks = contentBlocks(content);
    const text = blocksPlain(blocks).trim();
    // What an agent is told to do stands in the call that started it.
    if (text === "" || parent !== "") return;
    const uuid = str(line, "uuid");
    if (text.startsWith("[Request interrupted by user")) {
      this.notice("interrupted", "warn", t.interrupted, { key: lineKey(uuid) });
    } else if (["isSynthetic", "isMeta", "is_meta", "isCompactSummary", "is_compact_summary"].some((name) => bool(line, name))) {
      this.add({
        kind: "prompt",
        key: lineKey(uuid),
        shows: true,
        told: { line: uuid, written: blocks, echoed: true, synthetic: true },
      });
    } else if (text.startsWith("<local-command-stdout>")) {
      const output = tagged(text, "local-command-stdout");
      if (output !== "") this.notice("output", "dim", t.output, { key: lineKey(uuid), detail: output });
    } else if (tagged(text, "local-command-stderr") !== "") {
      this.notice("output", "warn", t.outputFailed, { key: lineKey(uuid), detail: tagged(text, "local-command-stderr") });
    } else {
      // The CLI's own words for a command that somebody typed.
      const command = tagged(text, "command-name");
      const written = command === "" ? blocks : contentBlocks(`${command} ${tagged(text, "command-args")}`.trim());
      const by = origin(obj(line, "origin"));
      this.prompt(uuid, { written, echoed: true, ...(by !== "" && { by, synthetic: true }) });
    }
  }

  /** Adds a prompt, or what is told of one. */
  private prompt(uuid: string, told: Told): void {
    this.add({
      kind: "prompt",
      key: uuid === "" ? "" : promptKey(uuid),
      shows: true,
      told: { ...told, ...(uuid !== "" && { line: uuid }) },
    });
  }

  /** Reads a line that was sent to the CLI: prompts of programs, and interrupts. The rest is not for people, or told by other events. */
  private sent(): void {
    const { line, by } = this.source;
    const type = str(line, "type");
    if (type === "user") {
      const written = contentBlocks(at(line, "message", "content"));
      if (blocksPlain(written).trim() === "") return;
      this.prompt(str(line, "uuid"), { written, ...(by && { by: oneLine(by) }) });
    } else if (type === "control_request" && str(line, "request", "subtype") === "interrupt") {
      this.notice("interrupt", "info", t.interruptSent, { by: by ?? "" });
    }
  }

  private text(line: JsonObject): void {
    const uuid = str(line, "uuid");
    this.add({
      kind: "text",
      key: lineKey(uuid),
      shows: true,
      told: { text: str(line, "text"), ...(uuid !== "" && { line: uuid }) },
    });
  }

  /** Reads how far a tool is. */
  private progress(line: JsonObject): void {
    const use = progressOf(line);
    const elapsed = num(line, "elapsed_time_seconds");
    const retry = obj(line, "subagent_retry");
    const progress = num(retry, "attempt") ? t.subagentRetry(num(retry, "attempt") ?? 0, num(retry, "max_retries") ?? 0) : "";
    if (this.part.known.has(toolKey(use))) this.tool(use, false, { ...(elapsed !== undefined && { elapsed }), progress });
  }

  /** Reads the end of a turn. */
  private turn(line: JsonObject): void {
    this.part.over();
    const subtype = str(line, "subtype");
    const uuid = str(line, "uuid");
    const failed = bool(line, "is_error") || (subtype !== "success" && subtype !== "");
    const why = str(line, "terminal_reason");
    const errors = arr(line, "errors").filter((error) => typeof error === "string" && !error.startsWith(forMakers));
    const error = failed ? clip((errors.join("\n") || str(line, "result")).trim()).text || subtype : "";
    const [ms, turns, output] = [num(line, "duration_ms"), num(line, "num_turns"), at(line, "structured_output")];
    const denials = arr(line, "permission_denials").length;
    const usage = at(line, "usage");
    const tokens: Turn["tokens"] = isObject(usage)
      ? {
          input: num(usage, "input_tokens") ?? 0,
          output: num(usage, "output_tokens") ?? 0,
          cacheRead: num(usage, "cache_read_input_tokens") ?? 0,
          cacheWrite: num(usage, "cache_creation_input_tokens") ?? 0,
        }
      : undefined;
    this.add({
      kind: "turn",
      key: uuid === "" ? "" : bounded("result:", uuid),
      shows: true,
      told: {
        turn: {
          subtype,
          failed,
          interrupted: why === "aborted_streaming" || why === "aborted_tools",
          total: num(line, "total_cost_usd") ?? 0,
          ...(error !== "" && { error }),
          ...(ms !== undefined && { ms }),
          ...(turns !== undefined && { turns }),
          ...(tokens && { tokens }),
          ...(denials > 0 && { denials }),
          ...(output !== undefined && output !== null && { output }),
        },
      },
    });
  }
}

/** The call whose progress a line tells; empty if it tells of no call. A heartbeat has an id of its own, and its call is that above. */
function progressOf(line: JsonObject): string {
  const use = str(line, "tool_use_id");
  if (!bool(line, "heartbeat")) return use;
  return use.startsWith("hook-") ? "" : str(line, "parent_tool_use_id"); // a hook's is not how long the call takes
}

function whose(parent: string, by: string): Told {
  return { ...(parent !== "" && { parent }), ...(by !== "" && { by }) };
}

/** What stands between the tags of a name in a text that begins with a tag. */
function tagged(text: string, name: string): string {
  if (!text.startsWith("<")) return "";
  const from = text.indexOf(`<${name}>`);
  const to = text.indexOf(`</${name}>`, from);
  return from < 0 || to < 0 ? "" : text.slice(from + name.length + 2, to).trim();
}

/** Who sent a prompt, if it was no person. */
function origin(from: JsonObject): string {
  const kind = str(from, "kind");
  if (kind === "" || kind === "human") return "";
  return oneLine(str(from, "name") || str(from, "from") || str(from, "server") || kind);
}
