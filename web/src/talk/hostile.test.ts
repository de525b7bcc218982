import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { Talk } from "./talk";
import { dump, parityLogs, read, Script, streamed } from "./testlogs";

const start = { type: "message_start", message: { id: "m", content: [] } };

describe("hostile events", () => {
  const shapes: Json[] = [null, true, 7, "text", [], {}, [null], [[]], { type: 7 }, { type: "text", text: {} }, { id: {} }];

  it("of any shape never throw, and are never dropped where they say something", () => {
    const types = new Set<string>();
    for (const log of parityLogs().filter((one) => one.name === "whole" || one.name === "every line")) {
      for (const event of log.events) {
        const line = event.line;
        if (line && typeof line === "object" && !Array.isArray(line)) {
          types.add(JSON.stringify([line.type, line.subtype]));
          for (const name of Object.keys(line)) {
            for (const shape of shapes) dump(read([{ ...event, line: { ...line, [name]: shape } }]));
          }
        }
        if (event.data && typeof event.data === "object" && !Array.isArray(event.data)) {
          for (const name of Object.keys(event.data)) {
            for (const shape of shapes) dump(read([{ ...event, data: { ...event.data, [name]: shape } }]));
          }
        }
        for (const shape of shapes) dump(read([{ ...event, line: shape, data: shape }]));
      }
    }
    expect(types.size).toBeGreaterThan(40);
    const log = new Script();
    for (const shape of [7, "x", null]) log.line({ type: "assistant", message: { content: shape } });
    log.line({ type: "of_tomorrow" });
    log.hub("of_tomorrow", {});
    log.hub("toString", {});
    log.add({ kind: "line", text: "no JSON" });
    log.add({ kind: "line", base64: "AAAA" });
    const talk = read(log.events);
    expect(talk.top.map((id) => talk.item(id)?.kind)).toEqual(Array(8).fill("unknown"));
  });

  it("with partial messages of any shape never throw", () => {
    for (const shape of shapes) {
      const talk = new Talk();
      talk.event(streamed(shape));
      talk.event(streamed(start));
      talk.event(streamed({ type: "content_block_start", index: 0, content_block: shape }));
      talk.event(streamed({ type: "content_block_delta", index: shape, delta: shape }));
      dump(talk);
    }
  });

  it("nested however deep are read, and so is a question that was settled", () => {
    let deep: Json = "x";
    for (let i = 0; i < 50_000; i++) deep = [deep];
    const log = new Script();
    log.hub("question_settled", { id: "q", kind: "permission", state: "answered", request: deep });
    log.line({ type: "of_tomorrow", deep });
    log.call("t1", "Odd", { deep });
    const talk = read(log.events);
    expect(talk.top.map((id) => talk.item(id)?.kind)).toEqual(["question", "unknown", "tool"]);
  });

  it("without a shape at all change nothing", () => {
    const talk = new Talk();
    for (const type of ["", "event", "live", "partial", "resume", "closing", "heartbeat"]) talk.frame({ type });
    talk.prepend([]);
    talk.trim(0);
    expect(talk.top).toEqual([]);
  });
});
