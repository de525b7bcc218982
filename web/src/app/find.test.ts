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

test("a session without a title is called by its folder, as in the list", () => {
  expect(find("shop", [], [aSummary({ id: "s1", title: "", dir: "/src/shop" })], [])[0]?.label).toBe("Session in shop");
});

test("a session is found by its machine, and says which that is", () => {
  const all = [aSummary({ id: "s1", title: "Train", node: "gpu-1", dir: "/src/model" }), aSummary({ id: "s2", title: "Docs" })];
  const found = find("gpu-1", [], all, []).filter(({ group }) => group === "Sessions");
  expect(found.map(({ id, hint }) => [id, hint])).toEqual([["session s1", "Idle · gpu-1 · /src/model"]]);
});

test("a question is found by the session that asks it, and says which that is", () => {
  const asked = aQuestion({ id: "q1", session: "s1", title: "make deploy", description: "Deploy" });
  const found = find("weather", [], [aSummary({ id: "s1", title: "Weather" })], [asked]);
  expect(found.find((entry) => entry.id === "question q1")?.hint).toBe("Weather · Deploy");
});

test("hundreds of questions leave room for the commands", () => {
  const many = Array.from({ length: 300 }, (_, n) => aQuestion({ id: `q${n}`, title: `make page ${n}` }));
  const commands = Array.from({ length: 30 }, (_, n) => command(`c${n}`, `Command of the page ${n}`));
  for (const query of ["", "page"]) {
    const found = find(query, [{ name: "Session", commands }], [], many).map((entry) => entry.label);
    for (const { label } of commands) expect(found).toContain(label);
  }
});

test("what is found is bounded", () => {
  const many = Array.from({ length: 500 }, (_, n) => aSummary({ id: `s${n}`, title: `Session ${n}` }));
  expect(find("session", [], many, []).length).toBeLessThan(50);
});
