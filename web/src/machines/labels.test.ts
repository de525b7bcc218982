import { expect, test } from "vitest";
import { aNode } from "../store/fake";
import { labelsProblem, machinesFor, readLabels, suggestLabels } from "./labels";

const now = Date.parse("2026-02-03T04:15:06Z");

test.each([
  ["gpu=h100", { gpu: "h100" }],
  [" gpu = h100 ,zone=eu, ", { gpu: "h100", zone: "eu" }],
  ["gpu=h100 zone=eu", { gpu: "h100", zone: "eu" }],
  ["gpu=h100, gpu=h100", { gpu: "h100" }],
  ["example.com/pool=a:b@c+d", { "example.com/pool": "a:b@c+d" }],
  ["spot=", { spot: "" }],
  ["constructor=x, __proto__x=y", undefined],
  ["constructor=x", { constructor: "x" }],
])("labels are read as they are typed: %s", (text, labels) => {
  expect(readLabels(text).labels).toEqual(labels);
});

test.each([
  ["", "Enter at least one label, such as gpu=h100."],
  [" , ", "Enter at least one label, such as gpu=h100."],
  ["gpu=h100, zone", "“zone” is no label. Enter NAME=VALUE, such as gpu=h100."],
  ["=h100", "“=h100” is no label. Enter NAME=VALUE, such as gpu=h100."],
  ["-gpu=h100", "“-gpu” can’t be a label’s name."],
  [`${"g".repeat(64)}=a`, "can’t be a label’s name."],
  ["gpu=a=b", "“a=b” can’t be a label’s value."],
  [`gpu=${"g".repeat(64)}`, "can’t be a label’s value."],
  ["gpu=h100, gpu=a100", "The label “gpu” has two values. Remove one of them."],
  [Array.from({ length: 17 }, (_, i) => `l${i}=x`).join(","), "Enter at most 16 labels."],
])("what is wrong with labels is said in words: %s", (text, problem) => {
  expect(readLabels(text).problem).toContain(problem);
  // The hub need not be asked, and neither need the machines be known.
  expect(labelsProblem(text, undefined, now)).toBe(readLabels(text).problem);
});

const nodes = [
  aNode({ name: "gpu-10", labels: { gpu: "h100", zone: "us" } }),
  aNode({ name: "gpu-2", labels: { gpu: "h100", zone: "eu" } }),
  aNode({ name: "gpu-1", labels: { gpu: "a100", zone: "eu" }, state: "draining", draining: true }),
  aNode({ name: "lab", labels: { gpu: "old", room: "attic" }, state: "revoked" }),
  aNode({ name: "plain", labels: undefined }),
];

test("the machines that can take a session are those that have all labels", () => {
  const names = (text: string) => machinesFor(text, nodes, now).map(({ name }) => name);
  expect(names("gpu=h100")).toEqual(["gpu-2", "gpu-10"]);
  expect(names("gpu=h100, zone=eu")).toEqual(["gpu-2"]);
  expect(names("gpu=a100")).toEqual([]);
  expect(names("gpu=old")).toEqual([]);
  expect(names("")).toEqual([]);
});

test.each([
  ["gpu=h100", undefined],
  ["gpu=old", "No machine has this label."],
  ["constructor=x", "No machine has this label."],
  ["gpu=a100, zone=us", "No machine has all of these labels."],
  ["gpu=a100", "Only gpu-1 has them. Draining: takes no new sessions."],
])("it is said why no machine can be chosen by %s", (text, problem) => {
  expect(labelsProblem(text, nodes, now)).toBe(problem);
});

test("several machines that take no session are told of together, and unknown ones are left to the hub", () => {
  const full = [aNode({ name: "a", labels: { gpu: "h100" }, sessions: 1, max_sessions: 1 })];
  const away = [...full, aNode({ name: "b", labels: { gpu: "h100" }, state: "offline" })];
  expect(labelsProblem("gpu=h100", full, now)).toBe("Only a has them. Full: 1 of 1 sessions.");
  expect(labelsProblem("gpu=h100", away, now)).toBe("No machine that has them takes sessions now.");
  expect(labelsProblem("gpu=h100", undefined, now)).toBeUndefined();
});

test.each([
  ["", ["gpu=a100", "gpu=h100", "zone=eu", "zone=us"]],
  ["GPU", ["gpu=a100", "gpu=h100"]],
  ["h1", ["gpu=h100"]],
  // A complete one is followed by those that fit it.
  ["gpu=h100", ["gpu=h100, zone=eu", "gpu=h100, zone=us"]],
  ["gpu=a100,", ["gpu=a100, zone=eu"]],
  ["gpu=h100 zone=u", ["gpu=h100, zone=us"]],
  ["gpu=h100, zone=eu", []],
  ["gpu=none, ", []],
  ["nonsense, ", []],
])("labels of the machines are suggested, each of which fits one: %j", (text, labels) => {
  expect(suggestLabels(text, nodes).map(({ label }) => label)).toEqual(labels);
});

test("a suggestion names its machines", () => {
  expect(suggestLabels("h100", nodes)).toEqual([{ id: "gpu=h100", label: "gpu=h100", hint: "gpu-2, gpu-10" }]);
  const many = Array.from({ length: 5 }, (_, i) => aNode({ name: `m${i}`, labels: { zone: "eu" } }));
  expect(suggestLabels("", many)[0]?.hint).toBe("m0, m1, m2 and 2 more");
});
