// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { atEdge, createHistory } from "./history";

beforeEach(() => localStorage.clear());

test("a session's own texts come first, each once, the newest first", () => {
  const history = createHistory(localStorage);
  history.add("a", "one");
  history.add("b", "two");
  history.add("a", "three");
  history.add("a", "one");
  expect(history.of("a")).toEqual(["one", "three", "two"]);
  expect(history.of("b")).toEqual(["two", "one", "three"]);
});

test("it is bounded, and keeps the newest", () => {
  const history = createHistory(localStorage);
  history.add("a", "x".repeat(20_000));
  history.add("a", "  ");
  expect(history.of("a")).toEqual([]);
  for (let i = 0; i < 70; i++) history.add("a", `${i}${"x".repeat(16_000)}`);
  const list = history.of("a");
  expect(list.length).toBeLessThan(70);
  expect(list[0]?.startsWith("69x")).toBe(true);
});

test("what somebody else wrote into the storage does no harm", () => {
  for (const text of ["{", "7", '[1, {"session": 3}, {"session":"a","text":"fine"}]']) {
    localStorage.setItem("switchboard.history", text);
    expect(() => createHistory(localStorage).of("a")).not.toThrow();
  }
  expect(createHistory(localStorage).of("a")).toEqual(["fine"]);
  expect(createHistory(undefined).of("a")).toEqual([]);
});

test("up leaves the text in its first line only, down in its last", () => {
  expect(atEdge("a\nb", 1, "up")).toBe(true);
  expect(atEdge("a\nb", 2, "up")).toBe(false);
  expect(atEdge("a\nb", 1, "down")).toBe(false);
  expect(atEdge("a\nb", 3, "down")).toBe(true);
});
