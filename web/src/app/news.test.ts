import { expect, test } from "vitest";
import { aQuestion, aSession, aSummary } from "../store/fake";
import { questionChanges, questionNews, stopNews, stopped } from "./news";

test("a question is opened once, and settled when it is answered or gone", () => {
  const a = aQuestion({ id: "a" });
  const b = aQuestion({ id: "b" });
  expect(questionChanges([a], [a, b])).toEqual({ opened: [b], settled: [] });
  expect(questionChanges([a, b], [{ ...a, state: "answered" }])).toEqual({ opened: [], settled: ["a", "b"] });
});

test("a session has stopped when it worked before and is idle or has ended", () => {
  const list = (state: string) => new Map([["s1", aSummary({ id: "s1", state })]]);
  expect(stopped(list("running"), list("idle"))).toHaveLength(1);
  expect(stopped(list("requires_action"), list("ended"))).toHaveLength(1);
  expect(stopped(list("idle"), list("ended"))).toHaveLength(0);
  expect(stopped(list("running"), list("requires_action"))).toHaveLength(0);
  // The first turn of a new one may be over before it is in the list.
  expect(stopped(new Map(), list("idle"))).toHaveLength(1);
  expect(stopped(new Map(), list("running"))).toHaveLength(0);
});

test("what is said of a session tells done, failed and ended apart, and nothing of an interrupt", () => {
  const session = (more: Parameters<typeof aSession>[0]) => stopNews(aSession({ id: "s1", state: "idle", ...more }), "Checkout");
  expect(session({ result: { subtype: "success" } })?.kind).toBe("done");
  expect(session({ result: { subtype: "error_max_turns", failed: true } })?.kind).toBe("failed");
  expect(session({ state: "ended", ended: { reason: "killed by a signal" } })).toMatchObject({
    kind: "failed",
    body: "killed by a signal",
  });
  expect(session({ result: { subtype: "error_during_execution", interrupted: true } })).toBeUndefined();
  // It was made, and has not been told anything.
  expect(session({ result: undefined })).toBeUndefined();
});

test("a notification of a question names it and leads to it", () => {
  const news = questionNews(aQuestion({ id: "q/1", kind: "permission", title: "rm -rf build" }), "Checkout");
  expect(news).toMatchObject({ tag: "question q/1", to: "#/inbox/q%2F1" });
  expect(news.body).toContain("rm -rf build");
  expect(news.title).toContain("Checkout");
});
