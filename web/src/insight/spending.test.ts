import { expect, test } from "vitest";
import { allTokens, amount, bucketName, buckets, dayName, formatAmount, type Spent, ticks } from "./spending";

const day = (key: string, usd: number): Spent => ({ key, usd, turns: 2, ms: 3000 });

test("days without costs are bars, too", () => {
  const { step, list } = buckets([day("2026-02-03", 1.5), day("2026-02-01", 1)], "usd", "2026-01-31", "2026-02-04");
  expect(step).toBe("day");
  expect(list.map((b) => [b.from, b.amount])).toEqual([
    ["2026-01-31", 0],
    ["2026-02-01", 1],
    ["2026-02-02", 0],
    ["2026-02-03", 1.5],
    ["2026-02-04", 0],
  ]);
});

test("without a beginning it is the oldest day; the server may be a day ahead", () => {
  const { list } = buckets([day("2026-02-05", 1), day("2026-02-03", 1)], "usd", undefined, "2026-02-04");
  expect(list.map((b) => b.from)).toEqual(["2026-02-03", "2026-02-04", "2026-02-05"]);
  expect(buckets([], "usd", undefined, "2026-02-04").list).toHaveLength(1);
});

test("many days become weeks from Monday on, and very many become months, with nothing lost", () => {
  const items = Array.from({ length: 200 }, (_, i) => day(new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10), 1));
  const weeks = buckets(items, "usd", undefined, "2026-07-19");
  expect(weeks.step).toBe("week");
  expect(weeks.list[0]).toEqual({ from: "2026-01-01", to: "2026-01-04", amount: 4 });
  expect(weeks.list[1]).toEqual({ from: "2026-01-05", to: "2026-01-11", amount: 7 });
  expect(weeks.list.reduce((sum, b) => sum + b.amount, 0)).toBe(200);
  const months = buckets(items, "usd", "2024-01-01", "2026-07-19");
  expect(months.step).toBe("month");
  expect(months.list).toHaveLength(31);
  expect(months.list.reduce((sum, b) => sum + b.amount, 0)).toBe(200);
});

test("keys that are no days are left out", () => {
  expect(buckets([day("nonsense", 9), day("2026-99-99", 9)], "usd", undefined, "2026-02-04").list).toEqual([
    { from: "2026-02-04", to: "2026-02-04", amount: 0 },
  ]);
});

test("measures", () => {
  const spent: Spent = { key: "m", usd: 1, turns: 2, ms: 3, tokens: { input: 1, output: 2, cache_read: 4, cache_write: 8 } };
  expect((["usd", "turns", "ms", "tokens"] as const).map((m) => amount(spent, m))).toEqual([1, 2, 3, 15]);
  expect(allTokens(undefined)).toBe(0);
  expect(formatAmount("turns", 1234)).toBe("1,234");
});

test.each([
  ["usd", 1.52, [0, 0.5, 1, 1.5, 2]],
  ["usd", 0.0012, [0, 0.0005, 0.001, 0.0015]],
  ["turns", 3, [0, 1, 2, 3]],
  ["ms", 90_000, [0, 30_000, 60_000, 90_000]],
  ["usd", 0, [0]],
] as const)("marks of an axis: %s up to %d", (measure, most, want) => {
  const got = ticks(most, measure);
  expect(got).toHaveLength(want.length);
  for (const [i, n] of want.entries()) expect(got[i]).toBeCloseTo(n, 9);
});

test("names of days", () => {
  expect(dayName("2026-02-03", "2026-05-01")).toBe("3 Feb");
  expect(dayName("2025-02-03", "2026-05-01")).toBe("3 Feb 2025");
  expect(bucketName({ from: "2026-02-02", to: "2026-02-08", amount: 0 }, "2026-05-01")).toBe("2 Feb – 8 Feb");
});
