import { expect, test } from "vitest";
import type { Question } from "../../src/api/types";
import {
  answerTo,
  asking,
  card,
  chrome,
  field,
  hub,
  key,
  onQuestions,
  open,
  planning,
  press,
  settled,
  show,
  step,
  tells,
} from "../questions";
import { decide, until } from "../stage";

onQuestions();

test("on a small screen a question says what is asked, once, and what answers it is in sight", async () => {
  const page = await chrome.open(await hub.address("/"), { viewport: { width: 1280, height: 680 } });
  const reading = [
    ['@tool Bash {"command":"go test ./..."}', "Run this command?"],
    [
      `@tool Edit ${JSON.stringify({ file_path: `${hub.project}/slug.go`, old_string: "package", new_string: "Package" })}`,
      "Edit slug.go?",
    ],
    ['@tool WebFetch {"url":"https://example.com/a","prompt":"x"}', "Fetch example.com?"],
    [asking(2), "Claude has 2 questions"],
  ] as const;
  const asked: Question[] = [];
  for (const [script, title] of reading) {
    const { id } = await hub.session(title, `@say Because of ${title}\n${script}\n@say Done.`);
    const q = await hub.question(id);
    asked.push(q);
    await show(page, `/s/${id}`);
    const shown = card(page, q);
    await shown.getByRole("heading", { name: title, exact: true }).waitFor();
    // The card is all that is shown of it: no call that waits and no line above it.
    await page.locator("article[data-kind=text]").getByText(`Because of ${title}`).first().waitFor();
    expect(await page.locator("article[data-kind=tool]:visible, article[data-kind=question]:visible").count()).toBe(0);
    const answer = shown.getByRole("button", { name: /^(Allow once|Send answers)/ });
    const composer = await field(page, "Message to the agent").boundingBox();
    const button = await answer.boundingBox();
    expect((button?.y ?? 9999) + (button?.height ?? 0), `what answers “${title}” is above the composer`).toBeLessThan(
      composer?.y ?? 0,
    );
  }
  const { id } = await hub.session(
    "A plan",
    `@tool ExitPlanMode ${JSON.stringify({ plan: `# Plan\n\n${"1. A step.\n".repeat(30)}` })}`,
    planning,
  );
  const q = await hub.question(id);
  await show(page, `/s/${id}`);
  await card(page, q).getByRole("heading", { name: "Approve this plan?" }).waitFor();
  const read = await card(page, q).getByRole("group", { name: "Read" }).boundingBox();
  expect(read?.height ?? 0, "the room for the plan").toBeGreaterThan(180);
  for (const name of [/^Yes, auto-accept/, /^No, keep planning/]) {
    const button = await card(page, q).getByRole("button", { name }).boundingBox();
    expect((button?.y ?? 9999) + (button?.height ?? 0)).toBeLessThan(680 - 90);
  }

  // In the inbox, what an agent has said before it asked stands with the question.
  await show(page, "/inbox");
  for (const [i, [, title]] of reading.entries())
    await card(page, asked[i] as Question)
      .getByText(`Because of ${title}`)
      .waitFor();
  // Only the list scrolls: what is only heard makes the page no longer than the screen.
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(680);
});

test("alike questions are answered together, and a rule for all sessions is shown before it is made", async () => {
  const ask = async (title: string) => {
    const { id } = await hub.session(title, '@tool Bash {"command":"make alike"}\n@result ok\n@say Done.');
    return hub.question(id);
  };
  const [one, two, three] = [await ask("One"), await ask("Two"), await ask("Three")];
  const page = await open("/inbox");
  await card(page, one).getByText("Select").click();
  await page.getByRole("button", { name: "Select 2 alike" }).click();
  await card(page, two).getByText("Select").click();
  const together = page.getByRole("region", { name: "2 questions selected" });
  await together.getByText("Bash: make alike").waitFor();
  await press(together.getByRole("button", { name: "Allow all 2 once" }), async () => (await together.count()) === 0);
  for (const q of [one, three]) expect(await answerTo(q.id)).toEqual({ decision: "allow" });
  expect((await hub.call("get-question", { params: { id: two.id } })).state).toBe("open");

  chrome.expected = [/409/]; // the rule may answer before the console does
  const rules = page.getByRole("radiogroup", { name: "Allow this from now on" });
  await step(page, "Always…", rules);
  await page.getByText("All sessions", { exact: false }).click();
  await step(page, "Review rule…", page.getByText('rule = "Bash(make alike'));
  await decide(page, "Add rule and allow");
  // By the rule, which holds for what waits, or by the answer, whichever comes first.
  expect((await settled(two.id)).answer?.decision).toBe("allow");
  const policy = await hub.call("get-policy");
  expect(policy.pending).toBeUndefined();
  expect(policy.rules?.some((rule) => rule.rule.startsWith("Bash(make alike") && rule.decision === "allow")).toBe(true);
  // Another session does the same without a question.
  const other = await hub.session("Another", '@tool Bash {"command":"make alike"}\n@result ok\n@say Not asked.');
  await tells(other.id, "Not asked.");
});

test("what is settled elsewhere is said at once, whatever somebody was about to do", async () => {
  const [{ id }, other] = await Promise.all([
    hub.session("Elsewhere", '@tool Bash {"command":"make haste"}\n@result ok\n@say Done.'),
    hub.session("Taken back", '@tool Bash {"command":"make waste"}\n@result ok'),
  ]);
  const [q, back] = [await hub.question(id), await hub.question(other.id)];
  const page = await open("/inbox");
  await card(page, back).waitFor();
  const reason = card(page, q).getByRole("textbox", { name: "Why not? (sent to the agent)" });
  await press(card(page, q).getByRole("button", { name: "Deny…" }), async () => (await reason.count()) > 0);
  await reason.fill("half a sentence");
  await hub.call("answer-question", { params: { id: q.id }, body: { decision: "allow" } });
  const { by } = await settled(q.id);
  await page.getByText(`allowed by ${by}`, { exact: true }).waitFor();
  expect(await card(page, q).count()).toBe(0);
  // What was being typed goes nowhere else: the other question has not got the focus.
  await page.keyboard.press("y");
  await hub.call("interrupt-session", { params: { id: other.id }, body: {} });
  expect((await settled(back.id)).state).toBe("cancelled");
  await page.getByText(/^cancelled/).waitFor();
  expect(await card(page, back).count()).toBe(0);
  await page.getByText("No open questions").waitFor();
});

test("the inbox is gone through by keyboard, the oldest question first, and what is put off comes last", async () => {
  const asked: Question[] = [];
  for (const name of ["first", "second", "third"]) {
    const { id } = await hub.session(
      `In the inbox: ${name}`,
      `@tool Bash {"command":"make ${name}"}\n@result ok\n@say ${name} done.`,
    );
    asked.push(await hub.question(id));
  }
  const [first, second, third] = asked as [Question, Question, Question];
  const page = await open("/inbox");
  await page.getByRole("main").getByText("3 open questions").waitFor();
  await card(page, third).waitFor();
  const order = () => page.getByRole("article").evaluateAll((all) => all.map((each) => each.id.replace("question-", "")));
  expect(await order()).toEqual([first.id, second.id, third.id]);
  const focused = () => page.evaluate(() => document.activeElement?.id.replace("question-", ""));
  const isSettled = (q: Question) => async () => (await hub.call("get-question", { params: { id: q.id } })).state !== "open";

  for (const [stroke, at] of [
    ["j", first],
    ["j", second],
    ["j", third],
    ["j", third],
    ["k", second],
  ] as const) {
    await page.keyboard.press(stroke);
    expect(await focused()).toBe(at.id);
  }
  await key(page, second, "y", isSettled(second));
  expect(await answerTo(second.id)).toEqual({ decision: "allow" });
  // The next one has the focus then, so that one after the other can be answered.
  await until("the third has the focus", async () => (await focused()) === third.id);
  await page.keyboard.press("k");
  expect(await focused()).toBe(first.id);
  const putOff = page.getByRole("heading", { name: "Later (1)" });
  await press(card(page, first).getByRole("button", { name: "Later" }), async () => (await putOff.count()) > 0);
  expect(await order()).toEqual([third.id, first.id]);

  const reason = field(page, "Why not? (sent to the agent)");
  await until("the third has the focus", async () => {
    await page.keyboard.press("k");
    return (await focused()) === third.id;
  });
  await key(page, third, "n", async () => (await reason.count()) > 0);
  await page.keyboard.type("no, yes, all"); // y, a and s are letters here
  await key(page, third, "Enter", isSettled(third));
  expect(await answerTo(third.id)).toEqual({ decision: "deny", message: "no, yes, all" });
  await until("the first has the focus", async () => (await focused()) === first.id);
  await key(page, first, "y", isSettled(first));
  expect(await answerTo(first.id)).toEqual({ decision: "allow" });
  await page.getByText("No open questions").waitFor();
});
