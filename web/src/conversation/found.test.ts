import { expect, it } from "vitest";
import { FakeSession } from "../store/fake";
import type { Item, Tool } from "../talk/item";
import { Folds } from "./fold";
import { findItems, openAt, openTo, topOf } from "./found";

const call = (id: string, children: string[], more: Partial<Tool> = {}): Tool => ({
  kind: "tool",
  id,
  use: id,
  name: "Task",
  input: {},
  state: "done",
  children,
  ...more,
});
const text = (id: string, words: string, parent?: string): Item => ({ kind: "text", id, text: words, ...(parent && { parent }) });

/** A conversation in which a sub-agent has called another one. */
function nested(): FakeSession {
  const session = new FakeSession("s");
  session.put(
    text("a", "Needle one"),
    call("agent", ["b", "deep"], { input: { prompt: "Look for the NEEDLE" } }),
    text("b", "no", "agent"),
    call("deep", ["c"], { parent: "agent" }),
    text("c", "a needle far down", "deep"),
    text("d", "the last needle"),
  );
  return session;
}

it("finds what sub-agents say and do, in the order in which it is read", () => {
  const session = nested();
  expect(findItems(session, session.order.get().ids, "needle")).toEqual(["a", "agent", "c", "d"]);
  expect(findItems(session, session.order.get().ids, "")).toEqual([]);
});

it("ends where agents call each other without end", () => {
  const session = new FakeSession("s");
  session.put(call("x", ["y"]), call("y", ["x"], { parent: "x" }));
  session.item("x").set(call("x", ["y"], { parent: "y" }));
  expect(findItems(session, ["x"], "nothing")).toEqual([]);
  openTo(session, new Folds(), "x");
});

it("opens all that hides an item, and shows the step of each agent that leads to it", () => {
  const session = nested();
  const folds = new Folds();
  openTo(session, folds, "c");
  expect(["agent", "agent/steps", "deep", "deep/steps"].map((key) => folds.get(key))).toEqual([true, true, true, true]);
  expect([folds.leadOf("deep"), folds.leadOf("agent")]).toEqual(["c", "deep"]);
  expect(folds.get("c")).toBeUndefined();
  expect([topOf(session, "c"), topOf(session, "a")]).toEqual(["agent", "a"]);
});

it("takes what belongs to a call that is not there as one at the top", () => {
  const session = new FakeSession("s");
  session.put(text("o", "orphan", "gone"));
  expect(topOf(session, "o")).toBe("o");
});

it("opens the part of an item that holds the text", () => {
  const session = nested();
  const folds = new Folds();
  openAt(session, folds, "agent", "needle");
  expect([folds.get("agent"), folds.get("agent/prompt")]).toEqual([true, true]);
  openAt(session, folds, "deep", "task");
  expect([folds.get("deep"), folds.get("deep/prompt")]).toEqual([true, undefined]);
});
