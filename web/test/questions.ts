// What the tests of questions in Chromium share: a hub and a browser, what became of a question, and how its card is used.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Answer, Question } from "../src/api/types";
import { onStage } from "./onStage";
import { type Chrome, type Hub, listening, until } from "./stage";

export let hub: Hub;
export let chrome: Chrome;

/** Starts a hub and a browser for a file of tests. What a test has left open, because it failed, is none of the next one's. */
export function onQuestions(): void {
  onStage(
    (theHub, theChrome) => {
      hub = theHub;
      chrome = theChrome;
    },
    async () => {
      for (const q of (await hub.call("list-questions", { query: { state: "open" } })).questions ?? []) {
        await hub.call("stop-session", { params: { id: q.session }, body: { force: true } });
        // A plan outlives its process.
        if (q.kind === "plan") await hub.call("answer-question", { params: { id: q.id }, body: { outcome: "reject" } });
      }
    },
  );
}

/** The question as the hub has it once it is settled. */
export function settled(question: string): Promise<Question> {
  return until(`${question} is settled`, async () => {
    const q = await hub.call("get-question", { params: { id: question } });
    return q.state !== "open" && q;
  });
}

/** What was answered, without the id of the answer. */
export async function answerTo(question: string): Promise<Answer> {
  const q = await settled(question);
  expect(q.state).toBe("answered");
  expect(q.by).toMatch(/^Chrome on /);
  const { client_id, ...answer } = q.answer ?? {};
  return answer;
}

/** Everything that the agent has written, as JSON. */
export async function written(session: string): Promise<string> {
  const { events } = await hub.call("get-events", { params: { id: session }, query: { kinds: "line", limit: "1000" } });
  return JSON.stringify(events);
}

/** Waits until the agent has written something: what tools were told, or what it says itself. */
export function tells(session: string, text: string | RegExp): Promise<boolean> {
  return until(`the agent writes ${text}`, async () => {
    const all = await written(session);
    return typeof text === "string" ? all.includes(JSON.stringify(text).slice(1, -1)) : text.test(all);
  });
}

/** Shows a route in the page that the tests share. */
export function open(route: string): Promise<Page> {
  return chrome.show(hub, route);
}

export async function show(page: Page, route: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, route);
}

/** The card of a question. */
export function card(page: Page, q: Question): Locator {
  return page.locator(`[id="question-${q.id}"]`);
}

/** Presses a button until something has come of it: what has only just come up, or moved, takes no press. */
export async function press(button: Locator, done: () => Promise<boolean>): Promise<void> {
  await until(`${button} is taken`, async () => {
    if (await done()) return true;
    await button.click({ timeout: 1000 }).catch(() => {});
    return false;
  });
}

/** Presses what opens a step of a card. */
export function step(page: Page, name: string | RegExp, opens: Locator): Promise<void> {
  return press(page.getByRole("button", { name, exact: true }), async () => (await opens.count()) > 0);
}

/** Presses a key with the focus in a card that takes answers. If it moves in that moment it says that it has taken none. */
export async function key(page: Page, q: Question, name: string, done: () => Promise<boolean>): Promise<void> {
  const focused = card(page, q).and(listening(page)).and(page.locator(":focus-within"));
  const tooSoon = card(page, q).getByText("This just appeared");
  let pressed = false;
  await until(`the key ${name} counts`, async () => {
    if (await done()) return true;
    if (pressed && (await tooSoon.count()) === 0) return false;
    await focused.waitFor();
    await page.keyboard.press(name);
    pressed = true;
    return false;
  });
}

export const field = (page: Page, name: string | RegExp) => page.getByRole("textbox", { name });

const choices = {
  questions: [
    {
      question: "Which database?",
      header: "Database",
      multiSelect: false,
      options: [
        { label: "SQLite", description: "One file" },
        { label: "PostgreSQL", description: "A server", preview: "postgres://…" },
      ],
    },
    {
      question: "Which parts?",
      header: "Parts",
      multiSelect: true,
      options: [
        { label: "API", description: "The interface" },
        { label: "Console", description: "The page" },
        { label: "Docs", description: "The words" },
      ],
    },
    {
      question: "When?",
      header: "When",
      multiSelect: false,
      options: [
        { label: "Now", description: "At once" },
        { label: "Later", description: "Some day" },
      ],
    },
  ],
};
/** A call that asks the first questions of these. */
export const asking = (n: number) => `@tool AskUserQuestion ${JSON.stringify({ questions: choices.questions.slice(0, n) })}`;

/** The options of a session that plans. */
export const planning = { permission_mode: "plan" };
