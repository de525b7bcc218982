import { readdirSync, readFileSync } from "node:fs";
import type { Event, Json, SandboxRefusal } from "../api/types";
import { str } from "./json";
import { Talk } from "./talk";

/** What the Go programs read from a log: see internal/transcript/console_test.go, which writes it. */
export interface ParityItem {
  kind: string;
  label?: string;
  tool?: string;
  parent?: string;
  author?: string;
  text?: string;
  name?: string;
  title?: string;
  state?: string;
  level?: string;
  denied?: string;
  task?: string;
  usd?: string;
  failed?: boolean;
  /** Of a tool, what the sandbox refused while it ran; of a refusal, that alone. */
  refusals?: SandboxRefusal[];
}

export interface ParityLog {
  name: string;
  events: Event[];
  items: ParityItem[];
}

const recordings = new URL("../../../wire/fold/testdata/recordings/", import.meta.url);

/** The logs that both reducers read. */
export function parityLogs(): ParityLog[] {
  const text = readFileSync(new URL("./testdata/parity.json", import.meta.url), "utf8");
  const logs = JSON.parse(text) as (Omit<ParityLog, "events"> & { events?: Event[] })[];
  return logs.map((log) => ({ ...log, events: log.events ?? recording(log.name) }));
}

/** All recordings that there are, by name. */
export function allRecordings(): Map<string, Event[]> {
  const logs = new Map<string, Event[]>();
  for (const version of readdirSync(recordings)) {
    for (const file of readdirSync(new URL(`${version}/`, recordings))) {
      if (file.endsWith(".log")) logs.set(`${version}/${file}`, recording(`${version}/${file}`));
    }
  }
  return logs;
}

const live = new Set(["stream_event", "tool_progress", "system/hook_progress", "system/task_progress", "system/thinking_tokens"]);

/** The events of a recording of what a real CLI wrote. */
function recording(name: string): Event[] {
  const log = new Script();
  for (const text of readFileSync(new URL(name, recordings), "utf8").split("\n")) {
    const [mark, rest] = [text.slice(0, 2), text.slice(2)];
    if (mark === "< ") {
      const line = JSON.parse(rest) as Json;
      const type = str(line, "type") === "system" ? `system/${str(line, "subtype")}` : str(line, "type");
      if (live.has(type)) log.events.push({ session: "s1", run: 1, kind: "live", line, time: "2026-01-01T12:00:00Z" });
      else log.line(line);
    } else if (mark === "> ") log.add({ kind: "sent", line: JSON.parse(rest) as Json });
    else if (text.startsWith("! started")) log.add({ kind: "run_started", data: {} });
    else if (text.startsWith("! ended")) log.add({ kind: "run_ended", data: { reason: "it ended" } });
  }
  return log.events;
}

/** Writes a log. */
export class Script {
  readonly events: Event[] = [];

  /** The time of the next event: one comes each second. */
  get next(): string {
    return new Date(Date.UTC(2026, 0, 1, 12, 0, this.events.length + 1)).toISOString();
  }

  add(event: Partial<Event> & { kind: string }): Event {
    const seq = this.events.length + 1;
    const whole: Event = { session: "s1", run: 1, id: `e1:${seq}`, seq, time: this.next, ...event };
    this.events.push(whole);
    return whole;
  }

  line(line: Json): Event {
    return this.add({ kind: "line", line });
  }

  hub(kind: string, data: Json): Event {
    return this.add({ kind, data });
  }

  say(text: string, more: { [name: string]: Json } = {}): Event {
    const n = this.events.length;
    return this.line({ type: "assistant", uuid: `a${n}`, message: { id: `m${n}`, content: [{ type: "text", text }] }, ...more });
  }

  call(id: string, name: string, input: { [name: string]: Json }, more: { [name: string]: Json } = {}): Event {
    const n = this.events.length;
    return this.line({
      type: "assistant",
      uuid: `a${n}`,
      message: { id: `m${n}`, content: [{ type: "tool_use", id, name, input }] },
      ...more,
    });
  }

  gave(id: string, text: string, failed = false, more: { [name: string]: Json } = {}): Event {
    const content = [{ type: "tool_result", tool_use_id: id, is_error: failed, content: text }];
    return this.line({ type: "user", uuid: `u${this.events.length}`, message: { role: "user", content }, ...more });
  }
}

/** A live event with a piece of a message. */
export function streamed(event: Json, parent?: string): Event {
  const line = { type: "stream_event", event, ...(parent !== undefined && { parent_tool_use_id: parent }) };
  return { session: "s1", run: 1, kind: "live", line };
}

export function read(events: readonly Event[]): Talk {
  const talk = new Talk();
  for (const event of events) talk.event(event);
  return talk;
}

/** All items as they stand: each with those within it. */
export function dump(talk: Talk, ids: readonly string[] = talk.top): unknown[] {
  return ids.map((id) => {
    const item = talk.item(id);
    return item?.kind === "tool" ? { ...item, children: dump(talk, item.children) } : item;
  });
}
