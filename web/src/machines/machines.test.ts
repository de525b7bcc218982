import { expect, test } from "vitest";
import { aNode } from "../store/fake";
import { arrangeMachines, formatBytes, labelWords, loadPercent, refusalOf, skewWords, timeOf } from "./machines";

const now = Date.parse("2026-02-03T04:15:06Z");

test.each([
  ["online", aNode(), undefined],
  ["with room", aNode({ sessions: 3, max_sessions: 4 }), undefined],
  ["full", aNode({ sessions: 4, max_sessions: 4 }), "Full: 4 of 4 sessions"],
  ["over its limit", aNode({ sessions: 5, max_sessions: 4 }), "Full: 5 of 4 sessions"],
  ["draining", aNode({ state: "draining", draining: true }), "Draining: takes no new sessions"],
  ["offline", aNode({ state: "offline" }), "Not connected, last seen 10m ago"],
  ["offline and draining", aNode({ state: "offline", draining: true }), "Not connected, last seen 10m ago"],
  ["never connected", aNode({ state: "offline", last_seen: undefined }), "Never connected"],
  ["never connected, with the year 1", aNode({ state: "offline", last_seen: "0001-01-01T00:00:00Z" }), "Never connected"],
  ["revoked", aNode({ state: "revoked" }), "Revoked"],
])("a machine that takes no session says why: %s", (_, node, why) => {
  expect(refusalOf(node, now)).toBe(why);
});

test("load is told in percent of the processors, and only while it is known", () => {
  expect(loadPercent(aNode({ load: 0.254 }))).toBe(25);
  expect(loadPercent(aNode({ load: 2 }))).toBe(200);
  expect(loadPercent(aNode({ load: undefined }))).toBe(0);
  expect(loadPercent(aNode({ cpus: undefined }))).toBeUndefined();
  expect(loadPercent(aNode({ state: "offline" }))).toBeUndefined();
});

test("a clock is told of if it is off by more than two seconds, either way", () => {
  expect(skewWords(aNode({ skew_millis: 2000 }))).toBeUndefined();
  expect(skewWords(aNode({ skew_millis: -2000 }))).toBeUndefined();
  expect(skewWords(aNode({ skew_millis: 2001 }))).toBe("Its clock is 2s ahead of the hub’s");
  expect(skewWords(aNode({ skew_millis: -65_000 }))).toBe("Its clock is 1m 5s behind the hub’s");
  // Of one that is not connected nothing is known.
  expect(skewWords(aNode({ state: "offline", skew_millis: 90_000 }))).toBeUndefined();
});

test("labels are in the order of their names, and hide nothing", () => {
  expect(labelWords({ zone: "b", gpu: "a100" })).toEqual(["gpu=a100", "zone=b"]);
  expect(labelWords({ gpu: "\u202ea" })).toEqual(["gpu=⟨U+202E⟩a"]);
  expect(labelWords(undefined)).toEqual([]);
});

test("machines are in the order of their names, those locked out last", () => {
  const nodes = [aNode({ name: "b10" }), aNode({ name: "a", state: "revoked" }), aNode({ name: "b9" })];
  expect(arrangeMachines(nodes).map(({ name }) => name)).toEqual(["b9", "b10", "a"]);
});

test("memory is told with as many digits as are read", () => {
  expect(formatBytes(512 * 2 ** 20)).toBe("512 MB");
  expect(formatBytes(31.25 * 2 ** 30)).toBe("31.3 GB");
  expect(formatBytes(8 * 2 ** 30)).toBe("8 GB");
  expect(formatBytes(256.4 * 2 ** 30)).toBe("256 GB");
});

test("a time that the server does not have is none", () => {
  expect(timeOf("0001-01-01T00:00:00Z")).toBeUndefined();
  expect(timeOf(undefined)).toBeUndefined();
  expect(timeOf("2026-02-03T04:15:06Z")).toBe(now);
});
