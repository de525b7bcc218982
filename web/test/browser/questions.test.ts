import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Answer, Question } from "../../src/api/types";
import { Chrome, decide, Hub, listening, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

beforeAll(async () => {
  [hub, chrome] = await Promise.all([Hub.start(), Chrome.start()]);
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await chrome.remember(task.name);
  const wrong = await chrome.tidy();
  // What a test has left open, because it failed, is none of the next one's.
  for (const q of (await hub.call("list-questions", { query: { state: "open" } })).questions ?? []) {
    await hub.call("stop-session", { params: { id: q.session }, body: { force: true } });
    // A plan outlives its process.
    if (q.kind === "plan") await hub.call("answer-question", { params: { id: q.id }, body: { outcome: "reject" } });
  }
  expect(wrong, "what went wrong in the browser").toEqual([]);
});
afterAll(async () => {
  await chrome?.stop();
  await hub?.stop();
});

/** The question as the hub has it once it is settled. */
function settled(question: string): Promise<Question> {
  return until(`${question} is settled`, async () => {
    const q = await hub.call("get-question", { params: { id: question } });
    return q.state !== "open" && q;
  });
}

/** What was answered, without the id of the answer. */
async function answerTo(question: string): Promise<Answer> {
  const q = await settled(question);
  expect(q.state).toBe("answered");
  expect(q.by).toMatch(/^Chrome on /);
  const { client_id, ...answer } = q.answer ?? {};
  return answer;
}

/** Everything that the agent has written, as JSON. */
async function written(session: string): Promise<string> {
  const { events } = await hub.call("get-events", { params: { id: session }, query: { kinds: "line", limit: "1000" } });
  return JSON.stringify(events);
}

/** Waits until the agent has written something: what tools were told, or what it says itself. */
function tells(session: string, text: string | RegExp): Promise<boolean> {
  return until(`the agent writes ${text}`, async () => {
    const all = await written(session);
    return typeof text === "string" ? all.includes(JSON.stringify(text).slice(1, -1)) : text.test(all);
  });
}

async function open(route: string): Promise<Page> {
  return chrome.open(await hub.address(route));
}

async function show(page: Page, route: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, route);
}

/** The card of a question. */
function card(page: Page, q: Question): Locator {
  return page.locator(`[id="question-${q.id}"]`);
}

/** Presses a button until something has come of it: what has only just come up, or moved, takes no press. */
async function press(button: Locator, done: () => Promise<boolean>): Promise<void> {
  await until(`${button} is taken`, async () => {
    if (await done()) return true;
    await button.click({ timeout: 1000 }).catch(() => {});
    return false;
  });
}

/** Presses what opens a step of a card. */
function step(page: Page, name: string | RegExp, opens: Locator): Promise<void> {
  return press(page.getByRole("button", { name, exact: true }), async () => (await opens.count()) > 0);
}

/** Presses a key with the focus in a card that takes answers. If it moves in that moment it says that it has taken none. */
async function key(page: Page, q: Question, name: string, done: () => Promise<boolean>): Promise<void> {
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

const field = (page: Page, name: string | RegExp) => page.getByRole("textbox", { name });

test("a permission is allowed, edited, allowed always, denied with a reason, and denied so that the turn ends", async () => {
  const { id } = await hub.session("Permissions");
  const page = await open(`/s/${id}`);

  await hub.say(id, '@tool Bash {"command":"make one","timeout":5000}\n@result made one\n@say First.');
  let q = await hub.question(id);
  await decide(page, "Allow once");
  expect(await answerTo(q.id)).toEqual({ decision: "allow" });
  await page.getByText("First.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make two","timeout":5000}\n@say Second.');
  q = await hub.question(id);
  await step(page, "Edit…", field(page, "Command to run"));
  await field(page, "Command to run").fill("make two --dry-run");
  await step(page, "Review edit", page.getByText("Edited by you"));
  await card(page, q).getByText("make two --dry-run").first().waitFor();
  await decide(page, "Allow as edited");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", input: { command: "make two --dry-run", timeout: 5000 } });
  await page.getByText("Second.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make three"}\n@result ok\n@say Third.');
  q = await hub.question(id);
  const suggested = (q.suggestions?.[0]?.text ?? "").replace(/^allow /, "");
  expect(suggested).toContain("make three");
  const rules = page.getByRole("radiogroup", { name: "Allow this from now on" });
  await step(page, "Always…", rules);
  await rules.getByText(suggested, { exact: true }).click();
  await page.getByRole("radiogroup", { name: "Applies to" }).getByText("This session, until its process ends").click();
  await decide(page, "Always allow");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", always: { suggestion: 0, destination: "session" } });
  await page.getByText("Third.", { exact: true }).waitFor();
  await hub.await(id, "idle");
  // The same again is not asked any more.
  await hub.say(id, '@tool Bash {"command":"make three"}\n@result ok\n@say Once more.');
  await page.getByText("Once more.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make four"}\n@result ok\n@say Fourth.');
  q = await hub.question(id);
  const reason = field(page, "Why not? (sent to the agent)");
  await step(page, "Deny…", reason);
  await reason.fill("Not on a Friday.");
  await decide(page, "Deny");
  expect(await answerTo(q.id)).toEqual({ decision: "deny", message: "Not on a Friday." });
  await tells(id, "Not on a Friday.");
  await page.getByText("Fourth.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make five"}\n@result ok\n@say Fifth.');
  q = await hub.question(id);
  await step(page, "Deny and stop…", field(page, /the turn stops/));
  await decide(page, "Deny and stop turn");
  expect(await answerTo(q.id)).toEqual({ decision: "deny", interrupt: true });
  await hub.await(id, "idle");
  expect(await written(id)).not.toContain('"text":"Fifth."');
  // What became of each is told in the conversation.
  await page
    .getByText(/^denied and turn stopped by you/)
    .first()
    .waitFor();
});

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
const asking = (n: number) => `@tool AskUserQuestion ${JSON.stringify({ questions: choices.questions.slice(0, n) })}`;

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

const plan = "# Mend the slugs\n\n1. Write a test.\n2. Mend it.";
const planning = { permission_mode: "plan" };
const presenting = (then: string) =>
  `@tool ExitPlanMode ${JSON.stringify({ plan: `${plan}\n\n@say Carried out.` })}\n@say ${then}`;

test("every outcome of a plan reaches the agent", async () => {
  const outcomes = ["fresh", "accept", "ask", "revise", "reject", "stop", "outline", "edited"] as const;
  const planned = new Map<string, { id: string; q: Question }>();
  await Promise.all(
    outcomes.map(async (name) => {
      const { id } = await hub.session(`Plan ${name}`, presenting(`Then ${name}.`), planning);
      planned.set(name, { id, q: await hub.question(id) });
    }),
  );
  const page = await open("/");
  const review = async (name: (typeof outcomes)[number]) => {
    const each = planned.get(name);
    if (!each) throw new Error(`nothing is planned for ${name}`);
    await show(page, `/s/${each.id}`);
    await card(page, each.q).getByRole("heading", { name: "Mend the slugs" }).waitFor();
    return each;
  };
  const mode = async (id: string) => (await hub.await(id, "idle")).permission_mode;

  let { id, q } = await review("accept");
  await decide(page, /^Yes, auto-accept edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "accept_edits" });
  await page.getByText("Then accept.", { exact: true }).waitFor();
  expect(await mode(id)).toBe("acceptEdits");

  ({ id, q } = await review("ask"));
  await page.getByText("More options").click();
  await page.getByText("Compact the conversation after this turn").click();
  await decide(page, /^Yes, manually approve edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "ask", compact: true });
  await page.getByText("Then ask.", { exact: true }).first().waitFor();
  await tells(id, "compact_boundary");
  expect(await mode(id)).toBe("default");

  ({ id, q } = await review("revise"));
  const lacks = field(page, "No, keep planning");
  await step(page, /^No, keep planning/, lacks);
  await step(page, "Send and keep planning", page.getByText("Describe the change or add an image."));
  await lacks.fill("Think of Umlauts.");
  await card(page, q)
    .locator("input[type=file]")
    .setInputFiles({ name: "shot.png", mimeType: "image/png", buffer: Buffer.from("shot") });
  await page.getByRole("img", { name: "shot.png" }).waitFor();
  await decide(page, "Send and keep planning");
  expect(await answerTo(q.id)).toMatchObject({ outcome: "revise", message: "Think of Umlauts.", images: [{ type: "image" }] });
  await tells(id, "Think of Umlauts.");
  expect(await mode(id)).toBe("plan");

  ({ id, q } = await review("reject"));
  await page.getByText("More options").click();
  await step(page, /^No, reject the plan/, field(page, /^Why reject/));
  await field(page, /^Why reject/).fill("Leave the slugs.");
  await decide(page, "Reject plan");
  expect(await answerTo(q.id)).toEqual({ outcome: "reject", message: "Leave the slugs." });
  await tells(id, "Leave the slugs.");
  expect(await mode(id)).toBe("plan");

  ({ id, q } = await review("stop"));
  await page.getByText("More options").click();
  await step(page, "Reject and stop…", field(page, /^Why reject.*turn stops/));
  await decide(page, "Reject and stop turn");
  expect(await answerTo(q.id)).toEqual({ outcome: "reject", interrupt: true });
  expect(await mode(id)).toBe("plan");
  expect(await written(id)).not.toContain('"text":"Then stop."');

  ({ id, q } = await review("outline"));
  await page.getByText("More options").click();
  await decide(page, /^Ask for a detailed outline/);
  expect(await answerTo(q.id)).toEqual({ outcome: "outline" });
  await tells(id, "a numbered list of every step");

  ({ id, q } = await review("edited"));
  await page.getByRole("tab", { name: "Edit" }).click();
  await field(page, /^Plan \(Markdown\)/).fill(`${plan}\n3. Have it read.`);
  await page.getByRole("tab", { name: "Read" }).click();
  await card(page, q).getByRole("listitem").filter({ hasText: "Have it read." }).waitFor();
  await decide(page, /^Yes, auto-accept edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "accept_edits", plan: `${plan}\n3. Have it read.` });
  await tells(id, /Approved Plan[^"]*Have it read/);

  // Last, since it takes the longest: the process that made the plan ends, and another begins with the plan alone.
  ({ id, q } = await review("fresh"));
  await decide(page, /^Yes, clear context/);
  expect(await answerTo(q.id)).toEqual({ outcome: "fresh" });
  await tells(id, /"text":"Carried out\."/);
  expect(await mode(id)).toBe("acceptEdits");
  expect((await hub.call("get-session", { params: { id } })).run).toBeGreaterThan(q.run);
});

test("a plan whose process has ended says so, offers what is still possible, and planning goes on", async () => {
  const { id } = await hub.session("Stale", presenting("Never said."), planning);
  const q = await hub.question(id);
  const page = await open(`/s/${id}`);
  await page.getByRole("button", { name: /^Yes, auto-accept edits/ }).waitFor();
  await hub.call("stop-session", { params: { id }, body: { force: true } });
  // At once, on the page that is open.
  await page.getByText("The process that asked has ended.").waitFor();
  await page.getByRole("button", { name: /^Yes, auto-accept edits/ }).waitFor({ state: "detached" });
  const offered = await page.getByRole("list", { name: "What next?" }).getByRole("button").allInnerTexts();
  expect(offered.map((text) => text.split("\n")[0])).toEqual([
    expect.stringMatching(/^Yes, clear context/),
    "No, keep planning",
    "No, reject the plan",
  ]);
  await step(page, /^No, keep planning/, field(page, "No, keep planning"));
  await field(page, "No, keep planning").fill("@say I plan on.");
  await decide(page, "Send and keep planning");
  expect(await answerTo(q.id)).toEqual({ outcome: "revise", message: "@say I plan on." });
  await page.getByText("I plan on.", { exact: true }).first().waitFor();
  expect((await hub.await(id, "idle")).permission_mode).toBe("plan");
});

const form = {
  message: "Where shall it go?",
  requested_schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 3 },
      copies: { type: "integer", title: "Copies", minimum: 1, maximum: 9 },
      country: {
        type: "string",
        title: "Country",
        enum: ["Chile", "Denmark", "Egypt", "Finland", "Ghana", "Norway", "Nepal", "Oman"],
      },
      public: { type: "boolean", title: "Public" },
    },
    required: ["name", "country"],
  },
};
const filling = (what: object) => `@tool mcp__deploy__put {}\n@form ${JSON.stringify(what)}`;
const mayDeploy = { allowed_tools: ["mcp__deploy__put"] };

test("a form is checked, sent, declined and cancelled; a page is followed by a click only", async () => {
  const { id } = await hub.session("Forms", undefined, mayDeploy);
  const page = await open(`/s/${id}`);

  await hub.say(id, `${filling(form)}\n@say Filled in.`);
  let q = await hub.question(id);
  await page.getByRole("heading", { name: "deploy asks: Where shall it go?" }).waitFor();
  await step(page, "Send form", page.getByText("Required.").first());
  await field(page, /^Name/).fill("ab");
  await field(page, /^Copies/).fill("ten");
  await step(page, "Send form", page.getByText("Too short or too long."));
  await page.getByText("Enter a number, such as 12 or -0.5.").waitFor();
  expect((await hub.call("get-question", { params: { id: q.id } })).state).toBe("open");
  await field(page, /^Name/).fill("blog");
  await field(page, /^Copies/).fill("3");
  // In a list, letters find what begins with them: n and c are no answers there, neither when it is open nor before.
  const country = page.getByRole("button", { name: /Country/ });
  await country.focus();
  await listening(page).waitFor();
  await page.keyboard.press("n");
  await country.press("Enter");
  await page.getByRole("listbox").waitFor();
  await listening(page).waitFor({ state: "attached" });
  await page.keyboard.press("n");
  await page.keyboard.press("o");
  await page.getByRole("option", { name: "Norway" }).click();
  await page.getByRole("radiogroup", { name: "Public" }).getByText("No", { exact: true }).click();
  await decide(page, "Send form");
  const content = { name: "blog", copies: 3, country: "Norway", public: false };
  expect(await answerTo(q.id)).toEqual({ decision: "accept", content });
  await tells(id, "Norway");
  await page.getByText("Filled in.", { exact: true }).waitFor();

  for (const [button, decision] of [
    ["Decline", "decline"],
    ["Cancel", "cancel"],
  ] as const) {
    await hub.say(id, `${filling(form)}\n@say After ${decision}.`);
    q = await hub.question(id);
    await decide(page, button);
    expect(await answerTo(q.id)).toEqual({ decision });
    await tells(id, `The form was not filled in: ${decision}`);
    await page.getByText(`After ${decision}.`, { exact: true }).waitFor();
  }

  await hub.say(id, `${filling({ message: "Log in", mode: "url", url: "https://login.invalid/a?b=c" })}\n@say Visited.`);
  q = await hub.question(id);
  const link = page.getByRole("link", { name: "Open page" });
  expect(await link.getAttribute("href")).toBe("https://login.invalid/a?b=c");
  expect(await link.getAttribute("rel")).toContain("noopener");
  await decide(page, "I've visited it");
  expect(await answerTo(q.id)).toEqual({ decision: "accept" });
  await page.getByText("Visited.", { exact: true }).waitFor();

  await hub.say(id, filling({ message: "Log in", mode: "url", url: "javascript:alert(1)" }));
  q = await hub.question(id);
  await page.getByText("Not an http or https address").waitFor();
  expect(await link.count()).toBe(0);
  await decide(page, "Decline");
  expect(await answerTo(q.id)).toEqual({ decision: "decline" });
});

test("a dialog of the CLI’s own is answered with what it offers, or cancelled", async () => {
  const { id } = await hub.session("Dialogs");
  const page = await open(`/s/${id}`);
  const shows = (request: string) =>
    hub.say(
      id,
      `@line ${JSON.stringify({
        type: "control_request",
        request_id: request,
        request: { subtype: "request_user_dialog", dialog_kind: "branch", payload: { branches: ["main", "next"] } },
      })}`,
    );
  await shows("dialog-1");
  let q = await hub.question(id);
  await page.getByRole("heading", { name: "Answer the dialog branch" }).waitFor();
  const result = field(page, "Result as JSON");
  await press(page.getByRole("button", { name: '"next"' }), async () => (await result.inputValue()) === '"next"');
  await decide(page, "Send result");
  expect(await answerTo(q.id)).toEqual({ decision: "choose", result: "next" });

  await hub.await(id, "idle");
  await shows("dialog-2");
  q = await hub.question(id);
  await decide(page, "Cancel dialog");
  expect(await answerTo(q.id)).toEqual({ decision: "cancel" });
});

test("of two pages that answer at once one is taken, and the other is told who was faster and with what", async () => {
  const { id } = await hub.session("Contested", '@tool Bash {"command":"make love"}\n@result made\n@say Made.');
  const q = await hub.question(id);
  const [one, two] = await Promise.all([open(`/s/${id}`), open("/inbox")]);
  chrome.expected = [/409/]; // the browser itself writes of a request that failed
  // Both answers are held until the other one is on its way.
  let held = 0;
  let release: () => void = () => {};
  const both = new Promise<void>((free) => {
    release = free;
  });
  const statuses: number[] = [];
  for (const page of [one, two]) {
    await page.route("**/v1/questions/*/answer", async (route) => {
      if (++held === 2) release();
      await both;
      await route.continue();
    });
    page.on("response", (response) => {
      if (response.url().endsWith(`/${q.id}/answer`)) statuses.push(response.status());
    });
  }
  await step(two, "Deny…", field(two, "Why not? (sent to the agent)"));
  await field(two, "Why not? (sent to the agent)").fill("Not now.");
  await Promise.all([decide(one, "Allow once"), decide(two, "Deny")]);
  const { answer, by } = await settled(q.id);
  await until("both have an answer", async () => statuses.length === 2);
  expect(statuses.sort()).toEqual([200, 409]);
  const allowed = answer?.decision === "allow";
  const outcome = (who: string) => (allowed ? `allowed by ${who}` : `denied by ${who}: Not now.`);
  const [faster, slower] = allowed ? [one, two] : [two, one];
  await faster.getByText(outcome("you"), { exact: true }).first().waitFor();
  await slower
    .getByText(outcome(by ?? ""), { exact: true })
    .first()
    .waitFor();
  expect(await two.getByRole("button", { name: "Deny", exact: true }).count()).toBe(0);
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

test("keys answer only with the focus in the card", async () => {
  const { id } = await hub.session("Keys", '@tool Bash {"command":"make keys"}\n@result ok\n@say Allowed by key.');
  const q = await hub.question(id);
  const page = await open(`/s/${id}`);
  const isOpen = async () => (await hub.call("get-question", { params: { id: q.id } })).state === "open";
  await listening(page).waitFor();
  await page.keyboard.press("y");
  const composer = field(page, "Message to the agent");
  await composer.focus();
  await page.keyboard.type("y");
  expect(await composer.inputValue()).toBe("y");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("y");
  expect(await isOpen()).toBe(true);
  await page.keyboard.press("q");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe(`question-${q.id}`);
  await key(page, q, "y", async () => !(await isOpen()));
  expect(await answerTo(q.id)).toEqual({ decision: "allow" });
  await page.getByText("Allowed by key.", { exact: true }).waitFor();
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
