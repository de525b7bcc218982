import { expect, test } from "vitest";
import type { TimelineItem } from "../api/types";
import { aQuestion } from "../store/fake";
import { covered, groupTurns, totals, without } from "./turns";

const zero = Date.parse("2026-02-03T04:00:00Z");
const at = (seconds: number) => new Date(zero + seconds * 1000).toISOString();

let seq = 0;
function item(kind: string, seconds: number, more: Partial<TimelineItem> = {}): TimelineItem {
  seq++;
  return { event_id: `e:${seq}`, seq, time: at(seconds), kind, title: `${kind} ${seq}`, ...more };
}

test("what happens belongs to the turn that ends after it", () => {
  const groups = groupTurns(
    [
      item("run", 0),
      item("prompt", 1, { title: "Do it", by: "ann" }),
      item("tool", 2, { ms: 3000 }),
      item("tool", 3, { ms: 4000, failed: true }),
      item("turn", 10, { ms: 9000, usd: 0.5, title: "Done" }),
      item("prompt", 20),
      item("tool", 21),
    ],
    { questions: [], now: zero + 30_000, working: true, before: 4 },
  );
  expect(groups).toHaveLength(2);
  expect(groups[0]).toMatchObject({
    number: 5,
    title: "Done",
    prompt: "Do it",
    by: "ann",
    start: zero + 1000,
    end: zero + 10_000,
    ms: 9000,
    usd: 0.5,
  });
  expect(groups[0]?.tools).toBe(5000);
  expect(groups[1]).toMatchObject({ title: "", failed: false, going: true, start: zero + 20_000, ms: 10_000 });
  expect(groups[1]?.number).toBeUndefined();
  expect(groups[1]?.steps.at(-1)?.end).toBeUndefined();
});

test("a wait lasts from the question to its answer, and says who answered", () => {
  const question = aQuestion({ opened: at(2), settled: at(7), state: "answered", by: "bob" });
  const open = aQuestion({ id: "q2", opened: at(8) });
  const groups = groupTurns([item("question", 2), item("decision", 7), item("turn", 8, { ms: 8000 }), item("question", 8)], {
    questions: [open, question],
    now: zero + 20_000,
    working: true,
  });
  expect(groups[0]?.steps[0]).toMatchObject({ kind: "wait", start: zero + 2000, end: zero + 7000, by: "bob" });
  expect(groups[0]?.waited).toBe(5000);
  expect(groups[1]?.steps[0]).toMatchObject({ kind: "wait", end: undefined });
  expect(groups[1]?.waited).toBe(12_000);
});

test("time is not counted twice", () => {
  expect(
    covered([
      [0, 10],
      [5, 15],
      [20, 30],
      [22, 25],
    ]),
  ).toBe(25);
  expect(covered([])).toBe(0);
  const question = aQuestion({ opened: at(1), settled: at(9), state: "answered" });
  const groups = groupTurns([item("tool", 1, { ms: 10_000 }), item("question", 1), item("turn", 12, { ms: 12_000, usd: 1 })], {
    questions: [question],
    now: zero + 60_000,
    working: false,
  });
  expect(totals(groups)).toEqual({ turns: 1, working: 4000, tools: 2000, waited: 8000, usd: 1 });
  // The bar of the tool has a gap where somebody was waited for.
  expect(groups[0]?.steps[0]?.worked).toEqual([[zero + 9000, zero + 11_000]]);
});

test("a span without others is what they leave of it", () => {
  const others = [
    [6, 7],
    [0, 2],
    [2, 3],
    [20, 30],
  ] as const;
  expect(without([1, 10], others)).toEqual([
    [3, 6],
    [7, 10],
  ]);
  expect(without([1, 2], others)).toEqual([[2, 2]]);
  expect(without([10, 12], others)).toEqual([[10, 12]]);
});

test("nothing, and nonsense, is no error", () => {
  expect(groupTurns([], { questions: [], now: 0, working: false })).toEqual([]);
  const around = { questions: [aQuestion({ opened: "?" })], now: zero, working: false };
  const groups = groupTurns([item("tool", 0, { time: "?" }), item("turn", 1, { ms: 0 })], around);
  expect(groups).toHaveLength(1);
  expect(groups[0]?.steps).toEqual([]);
});

test("what was cut off when the process ended does not go on", () => {
  const items = [item("prompt", 1), item("tool", 2), item("run", 5)];
  const groups = groupTurns(items, { questions: [], now: zero + 3_600_000, working: false });
  expect(groups[0]).toMatchObject({ going: false, start: zero + 1000, end: zero + 5000, tools: 0 });
  expect(groups[0]?.steps[1]).toMatchObject({ kind: "tool", until: zero + 2000 });
});
