import { expect, test } from "vitest";
import {
  formatAgo,
  formatDay,
  formatDuration,
  formatExactly,
  formatMoment,
  formatMoney,
  formatTime,
  formatTokens,
  shortenPath,
  withoutMarks,
} from "./format";
import { keyNames } from "./signs";

test.each([
  [0, "now"],
  [42, "42s ago"],
  [61, "1m ago"],
  [7300, "2h ago"],
  [3 * 86_400, "3d ago"],
  [-5, "now"],
])("%i seconds ago is %s", (seconds, text) => {
  const now = Date.parse("2026-05-10T12:00:00Z");
  expect(formatAgo(now - seconds * 1000, now)).toBe(text);
});

test("what is older than a week is a date, with the year if it is another one", () => {
  const now = Date.parse("2026-05-10T12:00:00Z");
  expect(formatAgo(Date.parse("2026-03-02T12:00:00Z"), now)).not.toContain("2026");
  expect(formatAgo(Date.parse("2024-03-02T12:00:00Z"), now)).toContain("2024");
});

test.each([
  [0, "$0.00"],
  [0.0042, "$0.0042"],
  [1.5, "$1.50"],
  [123_456.7, "$123,457"],
  [Number.NaN, "–"],
])("%d dollars are %s", (usd, text) => {
  expect(formatMoney(usd)).toBe(text);
});

test.each([
  [950, "950"],
  [1000, "1k"],
  [12_345, "12.3k"],
  [99_960, "100k"],
  [999_600, "1M"],
  [1_250_000, "1.3M"],
])("%i tokens are %s", (n, text) => {
  expect(formatTokens(n)).toBe(text);
});

test.each([
  [0, "0ms"],
  [850, "850ms"],
  [4200, "4.2s"],
  [9960, "10s"],
  [59_600, "1m"],
  [200_000, "3m 20s"],
  [7_500_000, "2h 5m"],
  [273_600_000, "3d 4h"],
])("%i ms are %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("a path is shortened in the middle, its name never unless it is too long itself", () => {
  expect(shortenPath("/home/ann/shop", 40)).toBe("/home/ann/shop");
  expect(shortenPath("/home/ann/projects/2026/shop/src/checkout/total.ts", 40)).toBe("/home/…/2026/shop/src/checkout/total.ts");
  expect(shortenPath(`/home/${"x".repeat(80)}`, 20)).toHaveLength(20);
});

test("a line is read without the marks of Markdown", () => {
  expect(withoutMarks("**Done:** `slug.Make` and __all__ of 2 * 3")).toBe("Done: slug.Make and all of 2 * 3");
});

test("keys are named as on the keyboard", () => {
  expect(keyNames("g i")).toEqual(["G", "I"]);
  expect(keyNames("mod+enter").at(-1)).toBe("↵");
  expect(keyNames("G")).toEqual(["⇧", "G"]);
  expect(keyNames("?")).toEqual(["?"]);
});

test("writes dates and times in one way, with no more than is needed", () => {
  const now = new Date(2026, 10, 17, 12).getTime();
  const evening = new Date(2026, 10, 17, 21, 3, 5);
  expect(formatTime(evening)).toBe("21:03");
  expect(formatDay(evening, now)).toBe("17 Nov");
  expect(formatDay(new Date(2025, 8, 1), now)).toBe("1 Sep 2025");
  expect(formatMoment(evening, now)).toBe("21:03");
  expect(formatMoment(new Date(2026, 10, 16, 9, 30), now)).toBe("16 Nov, 09:30");
  expect(formatMoment(new Date(2025, 11, 31, 0, 0).toISOString(), now)).toBe("31 Dec 2025, 00:00");
  expect(formatExactly(evening)).toBe("17 Nov 2026, 21:03:05");
  for (const format of [formatTime, formatDay, formatMoment, formatExactly]) expect(format("no time")).toBe("");
});
