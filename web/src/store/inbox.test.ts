import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Event, Json, Question } from "../api/types";
import { aQuestion, FakeApi } from "./fake";
import { Inbox } from "./inbox";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function event(kind: string, q: Question): Event {
  return { session: q.session, kind, data: q as unknown as Json };
}

async function lab(...open: Question[]) {
  const api = new FakeApi();
  const server = { open };
  api.on("list-questions", () => ({ questions: server.open }));
  const inbox = new Inbox(api);
  await inbox.reload();
  const frame = () => vi.advanceTimersByTimeAsync(250);
  const shown = () => inbox.state.get().list.map((q) => `${q.id} ${q.state}`);
  return { api, inbox, frame, shown, server };
}

const first = aQuestion({ id: "a", opened: "2026-01-01T00:00:00.5Z" });
const second = aQuestion({ id: "b", opened: "2026-01-01T00:00:01Z" });

test("open questions, the oldest first, whatever their times look like", async () => {
  const { shown } = await lab(second, first, aQuestion({ id: "c", opened: "2026-01-01T00:00:00Z" }));
  expect(shown()).toEqual(["c open", "a open", "b open"]);
});

test("what comes is shown, what is settled stays for a minute and says by whom", async () => {
  const { inbox, frame, shown } = await lab(first);
  inbox.event(event("question_opened", second));
  await frame();
  expect(shown()).toEqual(["a open", "b open"]);
  inbox.event(event("question_settled", { ...first, state: "answered", by: "ann", answer: { decision: "allow" } }));
  await frame();
  expect(inbox.state.get().list[0]).toMatchObject({ state: "answered", by: "ann", answer: { decision: "allow" } });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(shown()).toEqual(["a answered", "b open"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(shown()).toEqual(["b open"]);
});

test("a question that was opened and settled unseen is not shown", async () => {
  const { inbox, frame, shown } = await lab();
  inbox.event(event("question_opened", first));
  inbox.event(event("question_settled", { ...first, state: "cancelled" }));
  await frame();
  expect(shown()).toEqual([]);
});

test("a settled question does not open again because an event is repeated", async () => {
  const { inbox, frame, shown } = await lab(first);
  inbox.event(event("question_settled", { ...first, state: "answered" }));
  inbox.event(event("question_opened", first));
  await frame();
  expect(shown()).toEqual(["a answered"]);
});

test("what came while the list was read counts more than the list", async () => {
  const { api, inbox, frame, shown } = await lab(first);
  let answer: (() => void) | undefined;
  api.on("list-questions", () => new Promise((resolve) => (answer = () => resolve({ questions: [first] }))));
  const done = inbox.reload();
  inbox.event(event("question_settled", { ...first, state: "answered" }));
  inbox.event(event("question_opened", second));
  answer?.();
  await done;
  await frame();
  expect(shown()).toEqual(["a answered", "b open"]);
});

test("after everything was read anew, those that vanished say what became of them", async () => {
  const { api, inbox, frame, server, shown } = await lab(first, second);
  server.open = [second];
  api.on("get-question", ({ params }) => ({ ...first, id: params?.id ?? "", state: "answered", by: "bob" }));
  await inbox.reload();
  await frame();
  expect(shown()).toEqual(["a answered", "b open"]);
  expect(inbox.state.get().list[0]?.by).toBe("bob");
});

test("the hub's own notes are no part of a question, and what is none is nothing", async () => {
  const { inbox, frame } = await lab();
  inbox.event({
    session: "s1",
    kind: "question_opened",
    data: { ...(first as unknown as { [n: string]: Json }), line: { x: 1 }, intent: {} },
  });
  inbox.event({ session: "s1", kind: "question_opened", data: "nonsense" });
  inbox.event({ session: "s1", kind: "question_opened" });
  await frame();
  expect(inbox.state.get().list).toHaveLength(1);
  expect(inbox.state.get().list[0]).not.toHaveProperty("line");
});

test("a list that could not be read says so until it was, and is tried again by itself", async () => {
  const { api, inbox, frame, server, shown } = await lab(first);
  let down = true;
  api.on("list-questions", () => {
    if (down) throw new Error("down");
    return { questions: server.open };
  });
  await inbox.reload();
  inbox.event(event("question_opened", second));
  await frame();
  expect(inbox.state.get().error).toBeDefined();
  server.open = [first, second];
  down = false;
  await vi.advanceTimersByTimeAsync(2000);
  expect(inbox.state.get().error).toBeUndefined();
  expect(shown()).toEqual(["a open", "b open"]);
});
