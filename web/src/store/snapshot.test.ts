import { expect, test } from "vitest";
import type { Event, Json, Session } from "../api/types";
import { aQuestion, aSession } from "./fake";
import { patched, refreshAfter } from "./snapshot";

function after(session: Session, ...events: [kind: string, data: unknown][]): Session {
  return events.reduce((s, [kind, data]) => patched(s, { session: "s1", kind, data: data as Json }), session);
}

test("state, mode and title are taken from events", () => {
  const s = after(
    aSession(),
    ["state", { state: "running" }],
    ["mode", { mode: "plan" }],
    ["updated", { title: "T", archived: true }],
  );
  expect(s).toMatchObject({ state: "running", permission_mode: "plan", title: "T", archived: true });
});

test("questions come, change and go", () => {
  const q = aQuestion();
  let s = after(aSession(), ["question_opened", q], ["question_changed", { ...q, stale: true }]);
  expect(s.questions).toEqual([{ ...q, stale: true }]);
  s = after(s, ["question_settled", { ...q, state: "answered" }]);
  expect(s.questions).toEqual([]);
});

test("messages are there until they are picked up", () => {
  let s = after(aSession(), ["message", { id: "m", state: "queued", text: "hi" }], ["message", { id: "m", state: "sent" }]);
  expect(s.messages).toEqual([{ id: "m", state: "sent", text: "hi" }]);
  s = after(s, ["message", { id: "m", state: "picked_up" }]);
  expect(s.messages).toEqual([]);
});

test("what says nothing changes nothing", () => {
  const s = aSession({ state: "idle" });
  for (const data of [undefined, null, [], "x", {}, { state: 3 }, { state: "idle" }]) {
    expect(after(s, ["state", data], ["question_opened", data], ["updated", data], ["else", data])).toBe(s);
  }
});

test("deltas and lines that are sent do not have the snapshot read", () => {
  const line = (type: string): Event => ({ session: "s1", kind: "line", line: { type } });
  expect(refreshAfter(line("stream_event"))).toBeUndefined();
  expect(refreshAfter({ session: "s1", kind: "sent" })).toBeUndefined();
  expect(refreshAfter(line("result"))).toBeLessThan(500);
  expect(refreshAfter(line("assistant"))).toBeGreaterThan(1000);
  expect(refreshAfter({ session: "s1", kind: "state" })).toBeLessThan(500);
});
