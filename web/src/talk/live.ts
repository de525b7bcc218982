import type { Partial as PartialMessage } from "../api/types";
import type { Item } from "./item";
import { arr, type JsonObject, num, obj, str } from "./json";
import { toolKey } from "./keys";
import { partialObject } from "./partialJson";

// Bounds of what is being written.
const mostWriting = 64; // messages
const mostPieces = 256; // blocks of one
const mostText = 1 << 20; // characters in all

/** A message that is being written: at most one of the conversation and one of each sub-agent. */
interface Writing {
  readonly parent: string;
  readonly message: string;
  readonly model: string;
  stopped: boolean;
  blocks: LiveBlock[];
}

/** A part of it. */
export interface LiveBlock {
  readonly id: string;
  readonly parent: string;
  readonly index: number;
  readonly type: string;
  readonly kind: "text" | "thinking" | "tool" | "other";
  readonly use: string;
  readonly name: string;
  readonly model: string;
  readonly time: string;
  /** What has come, in pieces: they are joined when somebody looks. */
  pieces: string[];
  length: number;
  /** There is something to see. */
  shown: boolean;
  view: Item | undefined;
}

/** What is being written just now. */
export class Live {
  /** The ids of those that look otherwise now. */
  changed = new Set<string>();
  /** Some came or went. */
  moved = false;

  private open: Writing[] = [];
  private size = 0;
  /** Whether an id is one of an item that is complete. */
  private readonly taken: (id: string) => boolean;

  constructor(taken: (id: string) => boolean) {
    this.taken = taken;
  }

  /** Those that are to be seen, in order. */
  *shown(): Generator<LiveBlock> {
    for (const writing of this.open) for (const block of writing.blocks) if (block.shown) yield block;
  }

  clear(): void {
    while (this.open[0]) this.drop(this.open[0].parent);
  }

  /** Takes an event of a message that is being written. */
  stream(line: JsonObject, time: string): void {
    const parent = str(line, "parent_tool_use_id");
    const event = obj(line, "event");
    if (str(event, "type") === "message_start") {
      this.begin(parent, str(event, "message", "id"), str(event, "message", "model"));
      return;
    }
    const writing = this.open.find((one) => one.parent === parent);
    if (!writing) return; // its beginning was not seen
    const index = num(event, "index") ?? 0;
    switch (str(event, "type")) {
      case "content_block_start":
        this.start(writing, index, obj(event, "content_block"), time);
        break;
      case "content_block_delta":
        this.grow(writing, index, deltaText(obj(event, "delta")));
        break;
      case "message_stop":
        writing.stopped = true;
        if (writing.blocks.length === 0) this.drop(parent);
        break;
    }
  }

  private begin(parent: string, message: string, model: string): Writing {
    this.drop(parent);
    if (this.open.length >= mostWriting && this.open[0]) this.drop(this.open[0].parent);
    const writing: Writing = { parent, message, model, stopped: false, blocks: [] };
    this.open.push(writing);
    return writing;
  }

  private drop(parent: string): void {
    const at = this.open.findIndex((one) => one.parent === parent);
    const writing = this.open[at];
    if (!writing) return;
    this.remove(writing, writing.blocks.length);
    this.open.splice(at, 1);
  }

  /** Throws the first blocks of a message away. */
  private remove(writing: Writing, count: number): void {
    for (const block of writing.blocks.splice(0, count)) this.gone(block);
  }

  private gone(block: LiveBlock): void {
    this.size -= block.length;
    if (!block.shown) return;
    this.moved = true;
    this.changed.add(block.id);
  }

  private start(writing: Writing, index: number, block: JsonObject, time: string): void {
    const type = str(block, "type");
    const server = str(block, "server_name");
    const name = str(block, "name");
    this.put(writing, index, type, type === "mcp_tool_use" ? `mcp__${server}__${name}` : name, str(block, "id"), time);
    this.grow(writing, index, type === "thinking" ? str(block, "thinking") : str(block, "text"));
  }

  private put(writing: Writing, index: number, type: string, name: string, use: string, time: string): void {
    const same = writing.blocks.findIndex((block) => block.index === index);
    for (const block of same < 0 ? [] : writing.blocks.splice(same, 1)) this.gone(block);
    if (writing.blocks.length >= mostPieces) this.remove(writing, 1);
    const tool = name !== "" || use !== "";
    const block: LiveBlock = {
      id: tool && use !== "" ? toolKey(use) : this.free(`live:${writing.parent}:${writing.message}:${index}`),
      parent: writing.parent,
      index,
      type,
      kind: tool ? "tool" : type === "thinking" || type === "redacted_thinking" ? "thinking" : type === "text" ? "text" : "other",
      use,
      name,
      model: writing.model,
      time,
      pieces: [],
      length: 0,
      // A call that is known for good is not shown a second time.
      shown: tool && !this.taken(toolKey(use)),
      view: undefined,
    };
    writing.blocks.push(block);
    if (!block.shown) return;
    this.moved = true;
    this.changed.add(block.id);
  }

  /** An id that no complete item has: a message may be written again under the same id. */
  private free(id: string): string {
    let free = id;
    for (let n = 2; this.taken(free); n++) free = `${id}#${n}`;
    return free;
  }

  /** Adds to the text of a block, and keeps the whole within its bounds. It costs the same however long the text is. */
  private grow(writing: Writing, index: number, text: string): void {
    const block = writing.blocks.find((one) => one.index === index);
    if (!block || text === "") return;
    block.pieces.push(text);
    block.length += text.length;
    this.size += text.length;
    block.view = undefined;
    if (block.shown) this.changed.add(block.id);
    else if (block.kind !== "tool" && text.trim() !== "") {
      block.shown = true;
      this.moved = true;
      this.changed.add(block.id);
    }
    // More than needed: else every further piece would move the whole text.
    if (this.size > mostText) this.cut(this.size - mostText + mostText / 8);
  }

  /** Takes so much from the beginning of the longest text. */
  private cut(count: number): void {
    let long: LiveBlock | undefined;
    for (const writing of this.open) for (const block of writing.blocks) if (!long || block.length > long.length) long = block;
    if (!long) return;
    const text = blockText(long).slice(count);
    this.size -= long.length - text.length;
    long.pieces = [text];
    long.length = text.length;
    long.view = undefined;
    if (long.shown) this.changed.add(long.id);
  }

  /**
   * Takes a durable line of the agent's: what it tells is not being written any more. Returns the ids that its blocks have had while they
   * were being written, by their number in the line.
   */
  finished(line: JsonObject): readonly (string | undefined)[] {
    const parent = str(line, "parent_tool_use_id");
    const writing = this.open.find((one) => one.parent === parent);
    if (!writing) return [];
    if (writing.message !== str(line, "message", "id")) {
      this.drop(parent);
      return [];
    }
    const heirs = arr(line, "message", "content").map((content) => {
      // Blocks finish in order, but one without content may get no line. So what stands before the one that fits is over as well.
      const at = writing.blocks.findIndex((block) => became(block, content));
      const block = writing.blocks[at];
      this.remove(writing, at + 1);
      return block?.id;
    });
    if (writing.stopped && writing.blocks.length === 0) this.drop(parent);
    return heirs;
  }

  /** Takes another durable line. */
  line(line: JsonObject): void {
    if (this.open.length === 0) return;
    switch (str(line, "type")) {
      case "user": {
        const content = arr(line, "message", "content");
        const text = str(line, "message", "content") || str(content[0], "text");
        if (text.startsWith("[Request interrupted by user")) this.drop(str(line, "parent_tool_use_id"));
        for (const block of content) {
          const use = str(block, "tool_use_id");
          if (str(block, "type") === "tool_result" && use !== "") this.drop(use);
        }
        break;
      }
      case "result":
        this.drop("");
        break;
    }
  }

  /** Takes all that is being written, as the hub tells it. */
  replace(messages: readonly PartialMessage[], time: string): void {
    const before = new Map([...this.shown()].map((block) => [block.id, block]));
    this.clear();
    for (const message of messages) {
      const writing = this.begin(message.parent_tool_use_id ?? "", message.message_id ?? "", message.model ?? "");
      for (const block of message.blocks ?? []) {
        const known = before.get(`live:${writing.parent}:${writing.message}:${block.index}`);
        this.put(writing, block.index, block.type, block.name ?? "", block.id ?? "", known?.time ?? time);
        this.grow(writing, block.index, block.text ?? "");
      }
    }
    this.moved = true;
  }
}

/** Whether a block became the one of a line. */
function became(block: LiveBlock, content: unknown): boolean {
  return block.kind === "tool" ? block.use === str(content, "id") : block.type === str(content, "type");
}

/** The text of a piece, of whatever sort it is. */
function deltaText(delta: JsonObject): string {
  switch (str(delta, "type")) {
    case "text_delta":
      return str(delta, "text");
    case "thinking_delta":
      return str(delta, "thinking");
    case "input_json_delta":
      return str(delta, "partial_json");
    case "compaction_delta":
      return str(delta, "content");
    default:
      return "";
  }
}

function blockText(block: LiveBlock): string {
  if (block.pieces.length > 1) block.pieces = [block.pieces.join("")];
  return block.pieces[0] ?? "";
}

/** The item that a block is while it is being written. */
export function viewBlock(block: LiveBlock, parent: string | undefined): Item {
  const base = {
    id: block.id,
    streaming: true,
    ...(block.time !== "" && { time: block.time }),
    ...(parent !== undefined && { parent }),
  };
  const text = blockText(block);
  switch (block.kind) {
    case "text":
      return { ...base, kind: "text", text, ...(block.model !== "" && { model: block.model }) };
    case "thinking":
      return { ...base, kind: "thinking", text };
    case "tool":
      return {
        ...base,
        kind: "tool",
        use: block.use,
        name: block.name,
        input: partialObject(text),
        inputText: text,
        state: "writing",
        children: [],
        ...(block.time !== "" && { started: block.time }),
      };
    case "other":
      return { ...base, kind: "notice", topic: block.type, level: "dim", title: block.type, detail: text };
  }
}
