import { expect, test, vi } from "vitest";
import { aQuestion, aSummary } from "../store/fake";
import { find, score } from "./find";

test("all words must occur, and beginnings count more", () => {
  expect(score("Checkout rounding", "round check")).toBeGreaterThan(0);
  expect(score("Checkout rounding", "round cheese")).toBe(0);
  expect(score("Checkout", "check")).toBeGreaterThan(score("The checkout", "check"));
  expect(score("The checkout", "check")).toBeGreaterThan(score("Precheckout", "check"));
  expect(score("a+b (c)", "(c")).toBeGreaterThan(0);
});

const command = (id: string, label: string) => ({ id, label, run: vi.fn() });

test("without a word the commands are offered, those of the page first, and no sessions", () => {
  const found = find(
    "",
    [
      { name: "Pages", commands: [command("inbox", "Inbox")] },
      { name: "Session", commands: [command("stop", "Stop")] },
    ],
    [aSummary({ id: "s1", title: "Checkout" })],
    [],
  );
  expect(found.map((entry) => entry.label)).toEqual(["Stop", "Inbox"]);
});

test("with words sessions and open questions are found, and the search is offered last", () => {
  const found = find(
    "check",
    [],
    [aSummary({ id: "s1", title: "Checkout" }), aSummary({ id: "s2", title: "Docs" })],
    [aQuestion({ id: "q1", title: "git checkout main" }), aQuestion({ id: "q2", title: "npm run check", state: "answered" })],
  );
  expect(found.map((entry) => entry.id)).toEqual(["session s1", "question q1", "search"]);
});

test("what is found is bounded", () => {
  const many = Array.from({ length: 500 }, (_, n) => aSummary({ id: `s${n}`, title: `Session ${n}` }));
  expect(find("session", [], many, []).length).toBeLessThan(50);
});
