import { describe, expect, it } from "vitest";
import type { Event, Json } from "../api/types";
import type { Item, Tool } from "./item";
import { Talk } from "./talk";
import { goesOn } from "./task";
import { allRecordings, dump, parityLogs, read, Script, streamed } from "./testlogs";
import { toolTitle } from "./title";

const start = (id: string): Json => ({ type: "message_start", message: { id, content: [] } });
const open = (index: number, block: Json): Json => ({ type: "content_block_start", index, content_block: block });
const delta = (index: number, type: string, member: string, text: string): Json => ({
  type: "content_block_delta",
  index,
  delta: { type, [member]: text },
});
const says = (text: string, index = 0): Event => streamed(delta(index, "text_delta", "text", text));

function whole(): Event[] {
  return parityLogs().find((log) => log.name === "whole")?.events ?? [];
}

function tool(talk: Talk, use: string): Tool {
  const item = talk.item(`tool:${use}`);
  if (item?.kind !== "tool") throw new Error(`${use} is ${item?.kind ?? "not there"}`);
  return item;
}

/** What items say, in short; what a sub-agent says stands behind its call. */
function shown(talk: Talk, ids: readonly string[] = talk.top, depth = 0): string[] {
  return ids.flatMap((id) => {
    const item = talk.item(id);
    if (!item) return ["(nothing)"];
    const line = ">".repeat(depth) + short(item) + (item.streaming ? "▌" : "");
    return item.kind === "tool" ? [line, ...shown(talk, item.children, depth + 1)] : [line];
  });
}

function short(item: Item): string {
  switch (item.kind) {
    case "text":
    case "thinking":
      return item.text;
    case "tool":
      return `${item.name} ${toolTitle(item.name, item.input)}`;
    case "notice":
      return item.title;
    default:
      return item.kind;
  }
}

describe("streaming", () => {
  const line = (n: number, content: Json): Event => ({
    session: "s1",
    id: `e:${n}`,
    kind: "line",
    line: { type: "assistant", uuid: `u${n}`, message: { id: "m1", content: [content] } },
  });

  it("follows an answer that is being written until each block is there for good", () => {
    const done = ["hm.", "Hello world."];
    const steps: [Event, string[]][] = [
      [streamed(start("m1")), []],
      [streamed(open(0, { type: "thinking", thinking: "" })), []],
      [streamed(delta(0, "thinking_delta", "thinking", "hm")), ["hm▌"]],
      [streamed(open(1, { type: "text", text: "" })), ["hm▌"]],
      [says("Hello", 1), ["hm▌", "Hello▌"]],
      [line(1, { type: "thinking", thinking: "hm." }), ["hm.", "Hello▌"]],
      [says(" world", 1), ["hm.", "Hello world▌"]],
      [says("nobody opened it", 7), ["hm.", "Hello world▌"]],
      [line(2, { type: "text", text: "Hello world." }), done],
      [streamed(open(2, { type: "tool_use", id: "t1", name: "Bash", input: {} })), [...done, "Bash ▌"]],
      [streamed(delta(2, "input_json_delta", "partial_json", '{"command":"make')), [...done, "Bash make▌"]],
      [streamed(delta(2, "input_json_delta", "partial_json", ' \\"all\\"","x":1}')), [...done, 'Bash make "all"▌']],
      [streamed({ type: "content_block_stop", index: 2 }), [...done, 'Bash make "all"▌']],
      [line(3, { type: "tool_use", id: "t1", name: "Bash", input: { command: "make all" } }), [...done, "Bash make all"]],
      [streamed({ type: "message_stop" }), [...done, "Bash make all"]],
      // A sub-agent's stands within its call.
      [streamed(start("m2"), "t1"), [...done, "Bash make all"]],
      [streamed(open(0, { type: "text", text: "deep" }), "t1"), [...done, "Bash make all", ">deep▌"]],
      [streamed(start("m3")), [...done, "Bash make all", ">deep▌"]],
      [streamed(open(0, { type: "text", text: "high" })), [...done, "Bash make all", ">deep▌", "high▌"]],
      // The answer was got in another way.
      [
        {
          ...line(4, { type: "text", text: "other" }),
          line: { type: "assistant", message: { id: "m4", content: [{ type: "text", text: "other" }] } },
        },
        [...done, "Bash make all", ">deep▌", "other"],
      ],
      // The agent's result ends what it writes.
      [
        {
          session: "s1",
          id: "e:5",
          kind: "line",
          line: { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] } },
        },
        [...done, "Bash make all", "other"],
      ],
      [streamed(start("m5")), [...done, "Bash make all", "other"]],
      [streamed(open(0, { type: "text", text: "cut off" })), [...done, "Bash make all", "other", "cut off▌"]],
      [
        { session: "s1", id: "e:6", kind: "run_ended", data: { reason: "it ended" } },
        [...done, "Bash make all", "other", "Ended: it ended"],
      ],
    ];
    const talk = new Talk();
    const follower = new Follower(talk);
    for (const [event, want] of steps) {
      follower.take(talk.frame({ type: event.id ? "event" : "live", event }));
      expect(shown(talk)).toEqual(want);
    }
  });

  it("keeps the id of a block from its first piece to the line that has it for good", () => {
    const talk = new Talk();
    talk.event(streamed(start("m1")));
    talk.event(streamed(open(0, { type: "text", text: "" })));
    talk.event(says("Hello"));
    const ids = [...talk.top];
    const change = talk.event(line(1, { type: "text", text: "Hello." }));
    expect(talk.top).toEqual(ids);
    expect([...change.items]).toEqual(ids);
    expect(talk.item(ids[0] ?? "")).toMatchObject({ kind: "text", text: "Hello.", event: "e:1" });
    expect(talk.item(ids[0] ?? "")).not.toHaveProperty("streaming");
    // A message that is written again under the same id is another item.
    talk.event(streamed(start("m1")));
    talk.event(streamed(open(0, { type: "text", text: "Again" })));
    expect(new Set(talk.top).size).toBe(2);
    expect(shown(talk)).toEqual(["Hello.", "Again▌"]);
  });

  it("changes one item with a piece, and neither the order nor any other", () => {
    const talk = read(whole());
    talk.event(streamed(start("m")));
    talk.event(streamed(open(0, { type: "text", text: "now" })));
    const top = talk.top;
    const before = top.map((id) => talk.item(id));
    const change = talk.event(says(" and then"));
    expect(change).toMatchObject({ order: false });
    expect([...change.items]).toEqual([top.at(-1)]);
    expect(talk.top).toBe(top);
    expect(top.filter((id, i) => talk.item(id) !== before[i])).toEqual([top.at(-1)]);
  });

  it("lets a partial frame replace what is being written, and goes on from there", () => {
    const talk = new Talk();
    talk.event(streamed(start("old")));
    talk.event(streamed(open(0, { type: "text", text: "old" })));
    const blocks = [
      { index: 1, type: "text", text: "so far", cut: true },
      { index: 2, type: "tool_use", name: "Read", id: "t", text: '{"file_path":"/x' },
    ];
    talk.frame({ type: "partial", partial: { session: "s1", after: 0, messages: [{ message_id: "m1", blocks }] } });
    expect(shown(talk)).toEqual(["so far▌", "Read /x▌"]);
    expect(tool(talk, "t")).toMatchObject({ state: "writing", inputText: '{"file_path":"/x' });
    talk.event(says(", and on", 1));
    expect(shown(talk)).toEqual(["so far, and on▌", "Read /x▌"]);
    expect(talk.frame({ type: "partial", partial: { session: "s1", after: 0, messages: null } }).order).toBe(true);
    expect(talk.top).toEqual([]);
  });

  it("keeps a bounded amount of an answer without end, and its end", () => {
    const talk = new Talk();
    talk.event(streamed(start("m")));
    talk.event(streamed(open(0, { type: "text", text: "" })));
    const piece = "0123456789".repeat(1000);
    for (let i = 0; i < 300; i++) talk.event(says(piece));
    const item = talk.item(talk.top[0] ?? "");
    const text = item?.kind === "text" ? item.text : "";
    expect(text.length).toBeLessThanOrEqual(1 << 20);
    expect(text.length).toBeGreaterThan(1 << 19);
    expect(text.endsWith(piece)).toBe(true);
    for (let i = 0; i < 1000; i++) {
      talk.event(streamed(open(i, { type: "text", text: "x" })));
      talk.event(streamed(start("m"), `a${i}`));
      talk.event(streamed(open(0, { type: "text", text: "x" }), `a${i}`));
    }
    expect(talk.top.length).toBeLessThanOrEqual(64 + 256);
  });

  it("shows how long a tool has been running", () => {
    const log = new Script();
    log.call("t1", "Bash", { command: "make" });
    const talk = read(log.events);
    const progress = (use: string, more: { [name: string]: Json } = {}): Event => ({
      session: "s1",
      kind: "live",
      line: { type: "tool_progress", tool_use_id: use, elapsed_time_seconds: 12, ...more },
    });
    expect([...talk.event(progress("t1")).items]).toEqual(["tool:t1"]);
    expect(tool(talk, "t1").elapsed).toBe(12);
    expect(talk.event(progress("t2")).items.size).toBe(0);
    const beat = { parent_tool_use_id: "t1", heartbeat: true, elapsed_time_seconds: 30 };
    talk.event(progress("t1-heartbeat-0", { ...beat, subagent_retry: { attempt: 2, max_retries: 10 } }));
    expect(tool(talk, "t1")).toMatchObject({ elapsed: 30, progress: "retry 2 of 10" });
    talk.event(progress("hook-PreToolUse-t1-heartbeat-0", { ...beat, elapsed_time_seconds: 5 }));
    expect(tool(talk, "t1").elapsed).toBe(30);
  });
});

describe("a compaction", () => {
  const status = (status: Json, more: { [name: string]: Json } = {}): Json => ({
    type: "system",
    subtype: "status",
    status,
    ...more,
  });
  const boundary: Json = { type: "system", subtype: "compact_boundary", uuid: "b", compact_metadata: { trigger: "auto" } };
  const going = "Compacting the conversation▌";
  const ends: { [what: string]: (log: Script) => Event } = {
    "its end": (log) => log.line(status(null)),
    "its result": (log) => log.line(status(null, { permissionMode: "plan", compact_result: "success" })),
    "the summary": (log) => log.line(boundary),
    "the end of the turn": (log) => log.line({ type: "result", subtype: "success", uuid: "r" }),
    "an answer": (log) => log.say("Here I am."),
    "the end of the process": (log) => log.hub("run_ended", { reason: "it ended" }),
    "a session at rest": (log) => log.hub("state", { state: "idle" }),
  };

  for (const [what, end] of Object.entries(ends)) {
    it(`is shown from its beginning until ${what}`, () => {
      const log = new Script();
      const talk = new Talk();
      const follower = new Follower(talk);
      const take = (event: Event): void => follower.take(talk.event(event));
      take(log.say("one"));
      take(log.line(status("compacting")));
      expect(shown(talk)).toEqual(["one", going]);
      expect(talk.item(talk.top[1] ?? "")).toMatchObject({
        event: "e1:2",
        time: "2026-01-01T12:00:02.000Z",
        topic: "compaction",
      });
      expect(talk.itemOf("e1:2")).toBe(talk.top[1]);
      // What else goes on meanwhile does not end it, and stands before it.
      take(log.line(status("compacting", { compact_output_chars: 5 })));
      take(log.line(status("requesting")));
      take(log.line(status(null, { permissionMode: "acceptEdits" })));
      take(log.hub("state", { state: "running" }));
      take(log.call("t", "Bash", { command: "x" }, { parent_tool_use_id: "agent" }));
      expect(shown(talk)).toEqual(["one", "Bash x", going]);
      take(end(log));
      expect(shown(talk)).not.toContain(going);
      take(log.line(status("compacting")));
      expect(shown(talk).at(-1)).toBe(going);
    });
  }

  it("that goes on is shown to who comes in the middle, and is not left behind by what came before", () => {
    const log = new Script();
    log.line(status("compacting"));
    log.line(status(null));
    log.say("one");
    log.line(status("compacting"));
    const talk = read(log.events.slice(3));
    talk.prepend(log.events.slice(0, 3));
    expect(shown(talk)).toEqual(["one", going]);
    const over = read([log.line(status(null))]);
    over.prepend(log.events.slice(0, 4));
    expect(shown(over)).toEqual(["one"]);
    expect(talk.frame({ type: "resume", resume: { resume: "reset", last_event_id: "" } }).items).toContain("compacting:e1:4");
    expect(talk.top).toEqual([]);
  });

  it("that failed is told, with or without a reason", () => {
    const log = new Script();
    log.line(status(null, { compact_result: "failed", compact_error: "Too short.", uuid: "a" }));
    log.line(status(null, { compact_result: "failed", uuid: "b" }));
    expect(shown(read(log.events))).toEqual(["Compaction failed: Too short.", "Compaction failed"]);
  });
});

/** Follows what changes say, and holds that this is all that has changed. */
class Follower {
  private readonly seen = new Map<string, Item | undefined>();
  private top: readonly string[];
  private readonly talk: Talk;

  constructor(talk: Talk) {
    this.talk = talk;
    this.top = talk.top;
  }

  take(change: { order: boolean; items: ReadonlySet<string> }): void {
    if (change.order) this.top = this.talk.top;
    else expect(this.talk.top).toBe(this.top);
    for (const id of change.items) {
      if (this.talk.item(id)) this.seen.set(id, this.talk.item(id));
      else this.seen.delete(id);
    }
    for (const [id, item] of this.seen) expect(this.talk.item(id), id).toBe(item);
    const all: string[] = [];
    const walk = (ids: readonly string[]): void => {
      for (const id of ids) {
        const item = this.talk.item(id);
        all.push(id);
        if (item?.kind === "tool") walk(item.children);
      }
    };
    walk(this.top);
    expect(new Set(all).size).toBe(all.length);
    expect([...this.seen.keys()].sort()).toEqual(all.sort());
  }
}

describe("changes", () => {
  const logs = new Map([...parityLogs().map((log) => [log.name, log.events] as const)]);
  for (const [name, events] of logs) {
    it(`say all that has changed: ${name}`, () => {
      const talk = new Talk();
      const follower = new Follower(talk);
      for (const event of events) follower.take(talk.event(event));
      follower.take(talk.trim(3));
    });
  }
});

/** Numbers that look random, and are the same every time. */
function* numbers(seed: number): Generator<number, never> {
  for (let n = seed; ; ) {
    n = (n * 1103515245 + 12345) % 2147483648;
    yield n / 2147483648;
  }
}

describe("pages", () => {
  const logs = allRecordings();
  logs.set("whole", whole());
  for (const log of parityLogs()) if (log.name === "every line") logs.set(log.name, log.events);

  for (const [name, all] of logs) {
    it(`that are put in front give what a log gives from its beginning: ${name}`, () => {
      const random = numbers(all.length);
      const events = all.filter((event) => event.kind !== "live");
      const want = withoutMore(dump(read(events)));
      for (const most of [1, 20, 20]) {
        const cuts: number[] = [];
        for (let at = events.length; at > 0; ) {
          at = Math.max(at - 1 - Math.floor(random.next().value * most), 0);
          cuts.push(at);
        }
        const talk = read(events.slice(cuts[0]));
        for (let i = 1; i < cuts.length; i++) talk.prepend(events.slice(cuts[i], cuts[i - 1]));
        expect(withoutMore(dump(talk)), `cut at ${cuts}`).toEqual(want);
      }
    });
  }

  it("tell of all that they change", () => {
    const events = whole();
    const talk = read(events.slice(40));
    const follower = new Follower(talk);
    follower.take({ order: true, items: new Set(deep(talk, talk.top)) });
    follower.take(talk.prepend(events.slice(20, 40)));
    follower.take(talk.prepend(events.slice(0, 20)));
  });

  it("that overlap with what is known add nothing twice", () => {
    const events = whole();
    const talk = read(events.slice(20));
    talk.prepend(events.slice(10, 25));
    talk.prepend(events.slice(0, 20));
    expect(talk.prepend(events.slice(0, 5)).items.size).toBe(0);
    for (const event of events) expect(talk.event(event).items.size).toBe(0);
    expect(withoutMore(dump(talk))).toEqual(withoutMore(dump(read(events))));
    expect(talk.firstEvent).toBe("e1:1");
  });

  it("keep what is being written at the end", () => {
    const events = whole();
    const talk = read(events.slice(40));
    talk.event(streamed(start("m")));
    talk.event(streamed(open(0, { type: "text", text: "now" })));
    talk.prepend(events.slice(0, 40));
    expect(shown(talk).at(-1)).toBe("now▌");
  });

  it("bring back what was dropped", () => {
    const events = whole();
    const talk = read(events);
    const want = withoutMore(dump(talk));
    const top = [...talk.top];
    for (const keep of [25, 10, 1]) {
      talk.trim(keep);
      expect(talk.top).toEqual(top.slice(-keep));
    }
    const first = events.findIndex((event) => event.id === talk.firstEvent);
    expect(first).toBeGreaterThan(0);
    const half = Math.floor(first / 2);
    talk.prepend(events.slice(half, first));
    talk.prepend(events.slice(0, half));
    expect(withoutMore(dump(talk))).toEqual(want);
  });
});

/** The order of further events depends on the order in which they were read. */
function withoutMore(items: unknown): unknown {
  return JSON.parse(
    JSON.stringify(items, (name, value: unknown) => (name === "more" && Array.isArray(value) ? [...value].sort() : value)),
  );
}

function deep(talk: Talk, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const item = talk.item(id);
    return item?.kind === "tool" ? [id, ...deep(talk, item.children)] : [id];
  });
}

describe("sub-agents", () => {
  it("stand within the call that started them, also if it comes later", () => {
    const log = new Script();
    log.call("agent", "Task", { description: "look", prompt: "Look.", subagent_type: "reviewer" });
    log.say("I look.", { parent_tool_use_id: "agent", subagent_type: "reviewer" });
    log.call("deep", "Task", { description: "deeper" }, { parent_tool_use_id: "agent" });
    log.say("Deep down.", { parent_tool_use_id: "deep" });
    const want = ["Task reviewer: look", ">I look.", ">Task deeper", ">>Deep down."];
    expect(shown(read(log.events))).toEqual(want);
    const talk = read(log.events.slice(3));
    expect(shown(talk)).toEqual(["Deep down."]);
    talk.prepend(log.events.slice(2, 3));
    expect(shown(talk)).toEqual(["Task deeper", ">Deep down."]);
    talk.prepend(log.events.slice(0, 2));
    expect(shown(talk)).toEqual(want);
    expect(talk.itemOf("e1:4")).toBe("line:a3.0");
  });

  it("that say to belong to themselves stand at the top", () => {
    const log = new Script();
    log.call("a", "Task", {}, { parent_tool_use_id: "b" });
    log.call("b", "Task", {}, { parent_tool_use_id: "a" });
    log.call("c", "Task", {}, { parent_tool_use_id: "c" });
    const talk = read(log.events);
    expect(deep(talk, talk.top).sort()).toEqual(["tool:a", "tool:b", "tool:c"]);
    for (let i = 0; i < 100; i++) log.call(`n${i}`, "Task", {}, { parent_tool_use_id: i === 0 ? "a" : `n${i - 1}` });
    const nested = read(log.events);
    expect(deep(nested, nested.top)).toHaveLength(103);
  });
});

describe("background tasks", () => {
  const started = { type: "system", subtype: "task_started", task_id: "task", tool_use_id: "agent", description: "look" };

  it("belong to the call that started them, and end with their report", () => {
    const log = new Script();
    log.call("agent", "Agent", { prompt: "Look." });
    log.line(started);
    log.gave("agent", "launched", false, { tool_use_result: { isAsync: true } });
    log.line({ type: "result", subtype: "success" });
    log.call("deep", "Bash", { command: "make" }, { parent_tool_use_id: "agent" });
    const talk = read(log.events);
    expect(talk.top).toHaveLength(2); // no notice of the task
    expect(tool(talk, "agent")).toMatchObject({ state: "done", task: { id: "task", state: "running" } });
    expect(goesOn(tool(talk, "agent"))).toBe(true);
    talk.event({
      session: "s1",
      kind: "live",
      line: {
        ...started,
        subtype: "task_progress",
        description: "Running make",
        last_tool_name: "Bash",
        usage: { tool_uses: 2 },
      },
    });
    expect(tool(talk, "agent").task).toMatchObject({ description: "look", summary: "Running make", use: "2 calls" });
    talk.event(log.line({ type: "result", subtype: "success" }));
    expect(tool(talk, "deep").state).toBe("running"); // its agent goes on
    talk.event(log.line({ ...started, subtype: "task_notification", status: "completed", summary: "All is\nwell." }));
    expect(tool(talk, "agent").task).toMatchObject({ state: "completed", summary: "All is\nwell." });
    expect(goesOn(tool(talk, "agent"))).toBe(false);
    expect(tool(talk, "deep").state).toBe("stopped");
  });

  it("are over when their process is", () => {
    const log = new Script();
    log.call("agent", "Agent", { prompt: "Look." });
    log.line(started);
    log.call("deep", "Bash", { command: "make" }, { parent_tool_use_id: "agent" });
    log.line({ ...started, task_id: "other", tool_use_id: "" });
    const end = log.hub("run_ended", { reason: "killed" });
    const talk = read(log.events.slice(0, -1));
    const follower = new Follower(talk);
    follower.take({ order: true, items: new Set(deep(talk, talk.top)) });
    follower.take(talk.event(end));
    expect(tool(talk, "agent").task?.state).toBe("stopped");
    expect(tool(talk, "deep").state).toBe("stopped");
    expect(talk.item("task:other")).toMatchObject({ topic: "task", title: "Background task look: stopped" });
    const pages = read(log.events.slice(4));
    pages.prepend(log.events.slice(0, 4));
    expect(withoutMore(dump(pages))).toEqual(withoutMore(dump(talk)));
  });
});

it("says that an agent is simulated, also when the hub tells of the run again", () => {
  const log = new Script();
  log.hub("run_started", {});
  log.hub("run_launched", { version: "2.1.325", simulated: true });
  log.hub("run_launched", { version: "2.1.325" });
  expect(shown(read(log.events))).toEqual(["Run 1: simulated agent"]);
});

it("has words for every notice, or shows what came", () => {
  const log = new Script();
  log.hub("notice", { event: "stop_requested", reason: "by bob" });
  log.hub("notice", { colour: "green" });
  expect(shown(read(log.events))).toEqual(["Agent process: stop requested (by bob)", "unknown"]);
});

it("leaves out what was taken back from the queue", () => {
  const log = new Script();
  for (const state of ["queued", "taken_back"]) log.hub("message", { id: "m", uuid: "p", text: "no", state });
  expect(read(log.events).top).toEqual([]);
});

describe("questions", () => {
  it("make the tool wait, and the answer goes to it", () => {
    const log = new Script();
    log.call("t1", "Bash", { command: "make" });
    const question = { id: "q1", kind: "permission", tool: "Bash", tool_use_id: "t1", request: {}, session: "s1" };
    log.hub("question_opened", { ...question, state: "open" });
    const talk = read(log.events);
    expect(tool(talk, "t1")).toMatchObject({ state: "asking", question: "q1" });
    talk.event(log.hub("question_settled", { ...question, state: "answered", by: "alice", answer: { decision: "allow" } }));
    expect(tool(talk, "t1").state).toBe("running");
    expect(talk.item("question:q1")).toMatchObject({ kind: "question", by: "alice", question: { state: "answered" } });
    log.call("t2", "Bash", { command: "rm" });
    const denied = { ...question, id: "q2", tool_use_id: "t2", state: "answered", by: "bob", answer: { decision: "deny" } };
    log.hub("question_settled", denied);
    expect(tool(read(log.events), "t2")).toMatchObject({ state: "denied", denied: "by bob" });
  });

  it("are kept whole while they can be answered, however long they are", () => {
    const log = new Script();
    const request = { subtype: "can_use_tool", input: { command: `${"echo a lot; ".repeat(1 << 17)}rm -rf x` } };
    const open = log.hub("question_opened", { id: "q", kind: "permission", state: "open", request });
    const settled = log.hub("question_settled", { id: "q", kind: "permission", state: "answered", request });
    const talk = read([open]);
    expect(talk.item("question:q")).toMatchObject({ question: { request } });
    talk.event(settled);
    expect(talk.item("question:q")).toMatchObject({ question: { request: {} } });
  });
});

describe("prompts", () => {
  it("show how far they have come until they are in the conversation", () => {
    const log = new Script();
    const message = { id: "m1", uuid: "p1", text: "hello", by: "alice", client_id: "c1" };
    const talk = read([log.hub("message", { ...message, state: "queued" })]);
    expect(talk.top).toEqual([]);
    talk.event(log.hub("message", { ...message, state: "sent" }));
    const prompt = (): Item | undefined => talk.item("prompt:p1");
    expect(prompt()).toMatchObject({
      delivery: "sent",
      by: "alice",
      clientId: "c1",
      uuid: "p1",
      blocks: [{ type: "text", text: "hello" }],
    });
    talk.event(log.line({ type: "user", uuid: "p1", isReplay: true, message: { role: "user", content: "hello" } }));
    expect(prompt()).not.toHaveProperty("delivery");
    talk.event(log.hub("message", { ...message, state: "not_delivered", reason: "the agent was gone" }));
    expect(prompt()).toMatchObject({ delivery: "not_delivered", reason: "the agent was gone" });
    expect(talk.top).toEqual(["prompt:p1"]);
  });

  it("keep their images and documents", () => {
    const log = new Script();
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const document = { type: "document", title: "notes", source: { type: "text", media_type: "text/plain", data: "one" } };
    log.line({ type: "user", uuid: "p", message: { role: "user", content: [{ type: "text", text: "see" }, image, document] } });
    expect(read(log.events).item("prompt:p")).toMatchObject({
      blocks: [
        { type: "text", text: "see" },
        { type: "image", mediaType: "image/png", data: "AAAA" },
        { type: "document", title: "notes", text: "one" },
      ],
    });
  });
});

it("reads anew what begins anew", () => {
  const talk = read(whole());
  const top = [...talk.top];
  expect(talk.frame({ type: "resume", resume: { resume: "ok" } as never }).reset).toBeUndefined();
  expect(talk.top.length).toBeGreaterThan(0);
  const change = talk.frame({ type: "resume", resume: { resume: "reset" } as never });
  expect(change).toMatchObject({ reset: true, order: true });
  for (const id of top) expect(change.items).toContain(id);
  expect(talk.top).toEqual([]);
  expect(talk.lastEvent).toBe("");
  for (const event of whole().slice(0, 10)) talk.event(event);
  expect(dump(talk)).toEqual(dump(read(whole().slice(0, 10))));
});

it("tells why a turn failed without what the CLI writes for its makers", () => {
  const log = new Script();
  const failed = { type: "result", subtype: "error_during_execution", is_error: true };
  log.line({ ...failed, uuid: "a", errors: ["[ede_diagnostic] result_type=user", "boom"] });
  log.line({ ...failed, uuid: "b", errors: ["[ede_diagnostic] result_type=user"] });
  const talk = read(log.events);
  expect(talk.top.map((id) => talk.item(id))).toMatchObject([{ error: "boom" }, { error: "error_during_execution" }]);
});

it("finds the item of an event, or the one before it", () => {
  const log = new Script();
  log.say("one");
  log.hub("state", { state: "idle" });
  log.call("t", "Bash", { command: "x" });
  log.gave("t", "ok");
  const talk = read(log.events);
  expect(["e1:1", "e1:2", "e1:3", "e1:4", "e1:9", "x"].map((event) => talk.itemOf(event))).toEqual([
    "line:a0.0",
    "line:a0.0",
    "tool:t",
    "tool:t",
    undefined,
    undefined,
  ]);
});

it("takes a piece in the same time however long the conversation is", () => {
  const talk = new Talk();
  const log = new Script();
  for (let i = 0; i < 5000; i++) {
    log.call(`t${i}`, "Bash", { command: "true" });
    log.gave(`t${i}`, "ok");
  }
  for (const event of log.events) talk.event(event);
  talk.event(streamed(start("m")));
  talk.event(streamed(open(0, { type: "text", text: "x" })));
  const top = talk.top;
  for (let i = 0; i < 20_000; i++) talk.event(says("word "));
  expect(talk.top).toBe(top); // had the order been made anew for each, this would take minutes
  const item = talk.item(top.at(-1) ?? "");
  expect(item?.kind === "text" && item.text.length).toBe(1 + 20_000 * 5);
});

describe("a lost link", () => {
  const event = (n: number, kind: string, data: Json = {}): Event => ({ session: "s1", id: `e:${n}`, run: 1, kind, data });
  const log = [
    event(1, "link_up"),
    event(2, "link_lost", { reason: "the hub was restarted" }),
    event(3, "link_up", { back: true }),
    event(4, "rule_removed", { id: "r1", reason: "expired" }),
    event(5, "link_lost", { reason: "the hub was restarted" }),
    event(6, "link_up", { back: true }),
    event(7, "link_lost", { reason: "cut" }),
  ];
  const losses = (talk: Talk) => shown(talk).filter((line) => line.includes("link"));

  it("is shown as long as it is lost, and leaves nothing behind", () => {
    const talk = new Talk();
    const seen = log.map((one) => {
      talk.event(one);
      return losses(talk).length;
    });
    expect(seen).toEqual([0, 1, 0, 0, 1, 0, 1]);
    expect(losses(talk)[0]).toContain("cut");
    talk.event(event(8, "run_ended", { reason: "its shim process died" }));
    expect(losses(talk)).toEqual([]);
  });

  it("is the same when older pages come later", () => {
    for (let at = 1; at < log.length; at++) {
      const talk = new Talk();
      for (const one of log.slice(at)) talk.event(one);
      talk.prepend(log.slice(0, at));
      expect(losses(talk)).toHaveLength(1);
      talk.event(event(8, "link_up", { back: true }));
      expect(losses(talk)).toEqual([]);
    }
  });

  it("is still told where lines may be missing", () => {
    const talk = new Talk();
    for (const one of log.slice(0, 3)) talk.event(one);
    talk.event(event(4, "gap", { certain: true, reason: "lines did not arrive" }));
    expect(shown(talk)).toHaveLength(1);
  });
});

it("says what the hub could read of a line that is not JSON", () => {
  const log = new Script();
  log.add({ kind: "line", text: '{"type":"sys', data: { broken: true, length: 12, conversation: "sess_abc123", init: true } });
  log.add({ kind: "line", base64: "AAAA", data: { broken: true, length: 3 } });
  const talk = read(log.events);
  const labels = talk.top.map((id) => {
    const item = talk.item(id);
    return item?.kind === "unknown" ? item.type : item?.kind;
  });
  expect(labels).toEqual(["broken line, init, session sess_abc123", "broken line"]);
});
