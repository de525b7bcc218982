import { expect, test } from "vitest";
import type { Question } from "../api/types";
import { aQuestion } from "../store/fake";
import { mostSettled, pageAt, pageBefore, pageHolding, pageSize, withoutOldSettled } from "./page";

const open = (n: number): Question[] => Array.from({ length: n }, (_, i) => aQuestion({ id: `q${i}` }));
const settle = (list: readonly Question[], ...places: number[]): Question[] =>
  list.map((q, i) => (places.includes(i) ? { ...q, state: "answered" as const, settled: new Date(i * 1000).toISOString() } : q));

test("a page has so many open questions, and says how many are around it", () => {
  const page = pageAt(open(60), 25);
  expect(page.list.map((q) => q.id)).toEqual(
    open(60)
      .slice(25, 50)
      .map((q) => q.id),
  );
  expect([page.before, page.open, page.after]).toEqual([25, 25, 10]);
  expect(pageAt(open(3), 0)).toMatchObject({ before: 0, open: 3, after: 0 });
  expect(pageAt([], 0)).toEqual({ list: [], before: 0, open: 0, after: 0 });
});

test("what is settled takes no room from what waits", () => {
  const page = pageAt(settle(open(60), 0, 1, 2), 0);
  expect(page.list.length).toBe(pageSize + 3);
  expect([page.before, page.open, page.after]).toEqual([0, pageSize, 60 - pageSize - 3]);
});

test("a place behind the last open question gives the last page", () => {
  const page = pageAt(settle(open(52), 50, 51), 50);
  expect([page.before, page.open, page.after]).toEqual([25, 25, 0]);
  expect(pageAt(open(30), 99)).toMatchObject({ before: 5, open: 25, after: 0 });
});

test("pages are turned back by as many as they hold", () => {
  expect(pageBefore(open(60), 50)).toBe(25);
  expect(pageBefore(open(60), 40)).toBe(15);
  expect(pageBefore(open(60), 10)).toBe(0);
  // What was settled at the very beginning is not left alone.
  expect(pageBefore(settle(open(60), 0), 26)).toBe(0);
});

test("the page that holds a question is found", () => {
  expect([0, 24, 25, 59].map((n) => pageHolding(open(60), `q${n}`))).toEqual([0, 0, 25, 50]);
  expect(pageHolding(open(60), "gone")).toBe(0);
});

test("of very many settled questions the last ones stay", () => {
  const places = Array.from({ length: 80 }, (_, i) => i);
  const list = withoutOldSettled(settle(open(90), ...places));
  expect(list.length).toBe(10 + mostSettled);
  expect(list[0]?.id).toBe("q30");
});
