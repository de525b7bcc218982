import { expect, test } from "vitest";
import type { Question } from "../../src/api/types";
import { answerTo, asking, field, hub, key, onQuestions, open, press, step, tells } from "../questions";
import { decide, listening, until } from "../stage";

onQuestions();

test("a choice takes one, several, own words, a skip, and none", async () => {
  const { id } = await hub.session("Choices");
  const page = await open(`/s/${id}`);
  const group = (name: string) => page.getByRole("group", { name });

  await hub.say(id, `${asking(3)}\n@say Chosen.`);
  let q = await hub.question(id);
  await page.getByRole("radio", { name: /PostgreSQL/ }).check();
  await page.getByText("postgres://…", { exact: true }).waitFor();
  // Nothing is sent while one of them has no answer, and it says which.
  await step(page, "Send answers", page.getByText("Choose an option, write your own answer, or skip."));
  for (const part of [/Docs/, /API/]) await group("Which parts?").getByRole("checkbox", { name: part }).check();
  const own = group("Which parts?").getByRole("textbox");
  await press(group("Which parts?").getByRole("button", { name: "Other…" }), async () => (await own.count()) > 0);
  await group("Which parts?")
    .getByRole("textbox", { name: /in addition to the options/ })
    .fill("and the tests");
  const skipped = page.getByRole("button", { name: "Skipped" });
  await press(group("When?").getByRole("button", { name: "Skip" }), async () => (await skipped.count()) > 0);
  await decide(page, "Send answers");
  expect(await answerTo(q.id)).toEqual({
    decision: "allow",
    choices: {
      "Which database?": { labels: ["PostgreSQL"] },
      "Which parts?": { labels: ["API", "Docs"], text: "and the tests" },
      "When?": { skip: true },
    },
  });
  await tells(id, /API, ?Docs, ?and the tests/);
  await page.getByText("Chosen.", { exact: true }).waitFor();

  await hub.say(id, `${asking(1)}\n@say Heard.`);
  q = await hub.question(id);
  await page.getByRole("radio", { name: /SQLite/ }).check();
  // Own words take the place of an option, since there is one answer.
  await step(page, "Other…", field(page, "Your answer"));
  await field(page, "Your answer").fill("The one we have");
  expect(await page.getByRole("radio", { name: /SQLite/ }).isChecked()).toBe(false);
  await decide(page, "Send answer");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", choices: { "Which database?": { text: "The one we have" } } });
  await tells(id, "The one we have");
  await page.getByText("Heard.", { exact: true }).waitFor();

  await hub.say(id, `${asking(1)}\n@say Skipped.`);
  q = await hub.question(id);
  await step(page, "Skip", skipped);
  await page.getByText("All skipped").waitFor();
  await decide(page, "Send answer");
  expect(await answerTo(q.id)).toEqual({ decision: "deny" });
  await page.getByText("Skipped.", { exact: true }).waitFor();

  await hub.say(id, `${asking(2)}\n@say None.`);
  q = await hub.question(id);
  await step(page, "Skip all…", field(page, /^Why skip/));
  await field(page, /^Why skip/).fill("Ask me tomorrow.");
  await decide(page, "Skip all");
  expect(await answerTo(q.id)).toEqual({ decision: "deny", message: "Ask me tomorrow." });
  await tells(id, "Ask me tomorrow.");
});

test("the questions of a session are answered one after the other by their keys, and escape loses none", async () => {
  const { id } = await hub.session(
    "One by one",
    `@tool Bash {"command":"make one"}\n@takes 500ms\n@result ok\n${asking(1)}\n@say Chosen.`,
  );
  let q = await hub.question(id);
  const page = await open(`/s/${id}`);
  const composer = field(page, "Message to the agent");
  const isSettled = (question: Question) => async () =>
    (await hub.call("get-question", { params: { id: question.id } })).state !== "open";
  await listening(page).waitFor();
  await page.keyboard.press("q");
  await key(page, q, "y", isSettled(q));

  // The next one comes a moment later. It has the focus, so that its keys choose instead of being typed.
  q = await hub.question(id);
  await until("the choice has the focus", async () =>
    page.evaluate((card) => document.activeElement?.id === card, `question-${q.id}`),
  );
  await key(page, q, "1", async () => page.getByRole("radio", { name: /SQLite/ }).isChecked());
  expect(await composer.inputValue()).toBe("");

  // Escape leaves the composer, and twice it interrupts: not without asking while there is something to answer.
  await composer.focus();
  await page.keyboard.press("Escape");
  expect(await composer.evaluate((element) => document.activeElement === element)).toBe(false);
  const dialog = page.getByRole("alertdialog", { name: "Interrupt the turn?" });
  await until("it asks", async () => {
    if (await dialog.count()) return true;
    await page.keyboard.press("Escape");
    return false;
  });
  await dialog.getByText("This cancels the open question.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await isSettled(q)()).toBe(false);

  await page.keyboard.press("q");
  await key(page, q, "Enter", isSettled(q));
  expect(await answerTo(q.id)).toEqual({ decision: "allow", choices: { "Which database?": { labels: ["SQLite"] } } });
  await page.getByText("Chosen.", { exact: true }).waitFor();
  expect(await composer.evaluate((element) => document.activeElement === element)).toBe(false);
});
