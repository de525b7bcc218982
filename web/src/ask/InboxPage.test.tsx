// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import type { Answer, Question } from "../api/types";
import { listenToKeys } from "../app/keys";
import { aQuestion, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { InboxPage } from "./InboxPage";
import { later } from "./later";
import { pageSize } from "./page";

let hub: FakeHub;
let root: Root;
let place: HTMLElement;
let deaf: () => void;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  Element.prototype.scrollIntoView = () => {};
  later.set(new Set());
  hub = fakeHub();
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  deaf = listenToKeys(window);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
  deaf();
  vi.unstubAllGlobals();
});

const many = (n: number): Question[] =>
  Array.from({ length: n }, (_, i) => aQuestion({ id: `q${i}`, opened: new Date(i * 1000).toISOString() }));
const settle = (q: Question): Question => ({
  ...q,
  state: "answered",
  by: "ann",
  answer: { decision: "allow" },
  settled: q.opened,
});
const show = (question?: string) =>
  act(async () =>
    root.render(
      <HubContext value={hub}>
        <InboxPage {...(question ? { question } : {})} />
      </HubContext>,
    ),
  );
const cards = () => [...place.querySelectorAll("article")].map((e) => e.id.replace("question-", ""));
const focused = () => document.activeElement?.id.replace("question-", "");
const press = (key: string) =>
  act(async () => {
    (document.activeElement ?? document.body).dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
  });
const click = (name: string) =>
  act(async () => {
    const found = [...place.querySelectorAll("button")].find((b) => b.textContent === name);
    if (!found) throw new Error(`there is no button ${name}`);
    found.click();
  });
const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `q${from + i}`);

test("of hundreds of questions so many are drawn, and it is said which", async () => {
  hub.ask(...many(300));
  await show();
  expect(cards()).toEqual(ids(0, pageSize));
  expect(place.textContent).toContain("300 open questions, showing 1 to 25");
  await click("Next 25");
  expect(cards()).toEqual(ids(25, 50));
  expect(focused()).toBe("q25");
  await click("Previous 25");
  expect(cards()).toEqual(ids(0, 25));
  expect(focused()).toBe("q0");
});

test("the keyboard goes over the edges of a page, and keeps the focus", async () => {
  hub.ask(...many(60));
  await show("q22");
  for (let n = 0; n < 2; n++) await press("j");
  expect(focused()).toBe("q24");
  await press("j");
  expect(focused()).toBe("q25");
  expect(cards()).toEqual(ids(25, 50));
  await press("k");
  expect(focused()).toBe("q24");
  expect(cards()).toEqual(ids(0, 25));
});

test("a link leads to the page of its question", async () => {
  hub.ask(...many(60));
  await show("q52");
  expect(focused()).toBe("q52");
  expect(cards()).toEqual(ids(50, 60));
});

test("what is settled before a page does not move what is on it", async () => {
  const list = many(100);
  hub.ask(...list);
  await show();
  await click("Next 25");
  await press("j");
  expect(focused()).toBe("q26");
  // They go without a trace, as when they were settled long ago.
  await act(async () => hub.ask(...list.slice(10)));
  expect(cards()).toEqual(ids(25, 50));
  expect(focused()).toBe("q26");
  expect(place.textContent).toContain("90 open questions, showing 16 to 40");
  // What the page begins at goes, too.
  await act(async () => hub.ask(...list.slice(10, 25), ...list.slice(26)));
  expect(cards()).toEqual(ids(26, 51));
  expect(focused()).toBe("q26");
});

test("when a page is done the next questions come up, and those that are settled stay in sight for a while", async () => {
  const list = many(30);
  hub.ask(...list);
  await show();
  await act(async () => hub.ask(...list.map((q, i) => (i < 25 ? settle(q) : q))));
  expect(cards()).toEqual(ids(25, 30));
  expect(place.querySelectorAll("[role=status]").length).toBeGreaterThanOrEqual(25);
  expect(place.textContent).toContain("5 open questions");
});

test("when the last page empties the one before it is shown", async () => {
  const list = many(27);
  hub.ask(...list);
  await show();
  await click("Next 2");
  expect(cards()).toEqual(["q25", "q26"]);
  await act(async () => hub.ask(...list.slice(0, 25)));
  expect(cards()).toEqual(ids(0, 25));
});

test("what was put off comes last, on whatever page that is", async () => {
  hub.ask(...many(30));
  later.set(new Set(["q0"]));
  await show();
  expect(cards()).toEqual(ids(1, 26));
  expect(place.textContent).not.toContain("Later (1)");
  await click("Next 5");
  expect(cards()).toEqual([...ids(26, 30), "q0"]);
  expect(place.textContent).toContain("Later (1)");
});

test("several alike questions are selected and answered together, and those that others have answered are told", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const asks = (id: string, command: string) => aQuestion({ id, request: { tool_name: "Bash", input: { command } } });
  const list = [asks("q0", "make"), asks("q1", "make"), asks("q2", "rm -rf /"), asks("q3", "make")];
  hub.api.on("answer-question", ({ params }) => {
    if (params?.id === "q1") throw new ApiError({ status: 409, code: "already_settled", title: "Too late" });
    return aQuestion();
  });
  hub.ask(...list);
  await show();
  // Only what is like another can be selected.
  const boxes = () => [...place.querySelectorAll<HTMLInputElement>("article input[type=checkbox]")];
  expect(boxes().map((box) => box.closest("article")?.id)).toEqual(["question-q0", "question-q1", "question-q3"]);
  await act(async () => boxes()[0]?.click());
  expect(place.textContent).toContain("1 question selected");
  await click("Select 2 alike");
  expect(place.textContent).toContain("3 questions selected");
  expect(place.querySelector("section")?.textContent).toContain("Bash: make");
  // Not in the moment in which something has come up.
  await click("Allow all 3 once");
  expect(hub.api.of("answer-question")).toEqual([]);
  await act(async () => vi.advanceTimersByTime(500));
  await click("Allow all 3 once");
  expect(hub.api.of("answer-question").map((c) => [c.params?.id, (c.body as Answer).decision])).toEqual([
    ["q0", "allow"],
    ["q1", "allow"],
    ["q3", "allow"],
  ]);
  expect(place.textContent).not.toContain("selected");
  vi.useRealTimers();
});
