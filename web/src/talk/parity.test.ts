import { describe, expect, it } from "vitest";
import { blocksPlain } from "./blocks";
import type { Item } from "./item";
import { str } from "./json";
import type { Talk } from "./talk";
import { type ParityItem, parityLogs, read } from "./testlogs";
import { toolName, toolTitle } from "./title";

/** What the terminal calls a prompt that nobody typed: it tells of it in a notice. */
const synthetic = "told to the agent";

/** What an item says in the terminal's terms, as far as both say it. */
function said(item: Item | undefined, like: ParityItem): ParityItem {
  switch (item?.kind) {
    case "prompt": {
      const text = blocksPlain(item.blocks).trim();
      if (like.kind === "notice" && like.label === synthetic && item.synthetic) return { ...like, text };
      const failed = item.delivery !== undefined && ["taken_back", "not_delivered", "unknown"].includes(item.delivery);
      return clean({ kind: "prompt", state: like.state, label: item.reason, author: item.by, text, failed });
    }
    case "text":
      return clean({ kind: "text", parent: use(item.parent), author: item.by, text: item.text, failed: item.failed });
    case "thinking":
      return clean({
        kind: "thinking",
        parent: use(item.parent),
        author: item.by,
        text: item.redacted ? "(not readable)" : item.text,
      });
    case "tool": {
      // The terminal names a tool of an MCP server beside the title.
      const title = item.name.startsWith("mcp__") ? (like.title ?? "") : toolTitle(item.name, item.input);
      return clean({
        kind: "tool",
        parent: use(item.parent),
        author: item.by,
        text: item.result ? resultText(item.result, like) : "",
        tool: item.use,
        name: namedLike(item.name, like.name),
        // The terminal shows the whole input where nothing tells more, and no lines of a file.
        title: like.title?.startsWith("{") || (like.title && title.startsWith(like.title)) ? like.title : title,
        state: item.state === "asking" || item.state === "writing" ? "running" : item.state,
        denied: item.denied,
        task: item.task?.id,
        failed: item.state === "failed" || item.state === "denied",
        refusals: item.refusals ? [...item.refusals] : undefined,
      });
    }
    case "refusal":
      return clean({ kind: "refusal", refusals: [item.refusal] });
    case "question":
      return clean({ kind: "question", author: item.by, text: item.question.id, state: item.question.state });
    case "turn":
      return clean({
        kind: "turn",
        text: item.error,
        state: item.subtype,
        usd: item.usd === undefined ? "" : String(item.usd),
        failed: item.failed,
      });
    case "notice":
      // They are said in other words.
      return clean({
        ...like,
        kind: "notice",
        author: item.by,
        level: item.level === "dim" ? "info" : item.level,
        failed: item.level === "bad" || like.failed,
      });
    default:
      return clean({ ...like, kind: item?.kind ?? "nothing", label: item?.kind === "unknown" ? item.type : like.label });
  }
}

/** The text of a result; the terminal shows results of the API's own tools as JSON. */
function resultText(result: NonNullable<Extract<Item, { kind: "tool" }>["result"]>, like: ParityItem): string {
  const text = blocksPlain(result.blocks);
  return result.blocks.every((block) => block.type === "other") &&
    /^[[{]/.test(like.text ?? "") &&
    result.structured !== undefined
    ? (like.text ?? "")
    : text;
}

/** A tool's name as the terminal has it: it writes those of MCP servers in another way, and none of a call that it has not seen. */
function namedLike(name: string, like: string | undefined): string {
  if (like === undefined) return "";
  return like.startsWith("mcp__") ? name : toolName(name).replace(": ", " ");
}

function use(id: string | undefined): string | undefined {
  return id?.replace(/^tool:/, "");
}

function clean(item: ParityItem): ParityItem {
  return Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== undefined && value !== "" && value !== false),
  ) as unknown as ParityItem;
}

/** Compares what stands in one place, and then what stands within each tool. */
function compare(talk: Talk, ids: readonly string[], want: readonly ParityItem[], all: readonly ParityItem[]): void {
  expect(ids.map((id, i) => said(talk.item(id), want[i] ?? { kind: "too many" }))).toEqual(want.map(clean));
  for (const id of ids) {
    const item = talk.item(id);
    if (item?.kind !== "tool") continue;
    const within = all.filter((one) => one.parent === item.use);
    compare(talk, item.children, within, all);
  }
}

/** What the console tells in the row of something else, if at all: the terminal has a row for each. */
const joined = new Set(["interrupt", "interrupted", "message", "retry"]);

describe("what the console reads from a log means the same as what the terminal reads", () => {
  for (const log of parityLogs()) {
    it(log.name, () => {
      // The terminal also shows what was taken back from the queue; here it is in the composer again.
      log.items = log.items.filter((item) => item.kind !== "prompt" || item.state !== "taken_back");
      log.items = log.items.filter((item) => item.kind !== "notice" || !joined.has(item.label ?? ""));
      log.items = log.items.filter((item) => item.kind !== "text" || !item.failed);
      // It tells of links that came back, too; here that is no news any more.
      log.items = log.items.filter((item) => item.kind !== "notice" || !/^link( lost)?$/.test(item.label ?? ""));
      const tools = new Set(log.items.map((item) => item.tool).filter(Boolean));
      const top = log.items.filter((item) => !item.parent || !tools.has(item.parent));
      const talk = read(log.events);
      const rows = talk.top.filter((id) => {
        const item = talk.item(id);
        return !(item?.kind === "notice" && joined.has(item.topic)) && !(item?.kind === "text" && item.failed);
      });
      compare(talk, rows, top, log.items);
    });
  }
});

it("has a log with every type of line, and shows none of them as unknown but those of tomorrow", () => {
  const every = parityLogs().find((log) => log.name === "every line");
  const types = new Set(
    every?.events.map((event) => [str(event.line, "type"), str(event.line, "subtype")].filter(Boolean).join("/")),
  );
  expect(types.size).toBeGreaterThan(45);
  for (const log of parityLogs()) {
    const talk = read(log.events);
    for (const id of talk.top) {
      const item = talk.item(id);
      if (item?.kind === "unknown")
        expect(log.items).toContainEqual(expect.objectContaining({ kind: "unknown", label: item.type }));
    }
  }
});
