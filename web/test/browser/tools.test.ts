// What tools do, as cards: each kind, from the directives of the simulated agent and from lines as the CLI writes them.
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

const feed = (page: Page) => page.getByRole("feed", { name: "Conversation" });

/** The line of a card, which folds it. */
const head = (page: Page, name: RegExp) => feed(page).getByRole("button", { name }).and(page.locator("[aria-expanded]")).first();

/** The card of a call, by its line. */
const card = (page: Page, name: RegExp) =>
  feed(page)
    .getByRole("article")
    .filter({ has: page.getByRole("button", { name }) })
    .last();

/** Unfolds a card, and returns it. */
async function unfold(page: Page, name: RegExp): Promise<Locator> {
  const line = head(page, name);
  await line.scrollIntoViewIfNeeded();
  if ((await line.getAttribute("aria-expanded")) !== "true") await line.click();
  return card(page, name);
}

const told = (name: string, input: unknown, result?: string) =>
  `@tool ${name} ${JSON.stringify(input)}${result === undefined ? "" : `\n@result ${JSON.stringify(result)}`}`;

/** A call and what it gave, as lines of the CLI. */
function lines(id: string, name: string, input: unknown, content: unknown, structured?: unknown): string {
  const call = { type: "tool_use", id, name, input };
  const result = { type: "tool_result", tool_use_id: id, content };
  return [
    { type: "assistant", message: { id: `m${id}`, role: "assistant", content: [call] }, parent_tool_use_id: null },
    { type: "user", message: { role: "user", content: [result] }, parent_tool_use_id: null, tool_use_result: structured },
  ]
    .map((line) => `@line ${JSON.stringify(line)}`)
    .join("\n");
}

test("a command shows its output in colours, how it ended, and no more than a screen of it", async () => {
  const many = Array.from({ length: 3_000 }, (_, i) => `line ${i}`).join("\n");
  const session = await hub.session(
    "Commands",
    [
      told(
        "Bash",
        { command: "go vet ./...", description: "Look for mistakes" },
        "\u001b[31mred\u001b[0m and plain \u001b]0;title\u0007",
      ),
      told("Bash", { command: "seq 3000" }, many),
      `@tool Bash {"command":"go test ./..."}\n@fails ${JSON.stringify("Exit code 3\nFAIL blog")}`,
      "@say So much for that.",
    ].join("\n"),
    { allowed_tools: ["Bash"] },
  );
  await hub.await(session.id, "idle");
  const page = await chrome.show(hub, `/s/${session.id}`);
  await feed(page).getByText("So much for that.").waitFor();

  // What has failed is open, and says how.
  await head(page, /^Bash go test .*exit 3.*failed/).waitFor();
  await card(page, /^Bash go test/)
    .getByText("FAIL blog")
    .waitFor();

  const vet = await unfold(page, /^Bash go vet/);
  await vet.getByText("Look for mistakes").waitFor();
  const colour = (text: string) => vet.getByText(text, { exact: true }).evaluate((e) => getComputedStyle(e).color);
  expect(await colour("red")).not.toBe(await vet.getByText("and plain").evaluate((e) => getComputedStyle(e).color));
  expect(await vet.textContent()).not.toContain("title\u2407");

  // Folded it shows its first lines, unfolded its last ones, and all of them on demand.
  const seq = card(page, /^Bash seq/);
  await seq.getByText("2,997 more lines").waitFor();
  await unfold(page, /^Bash seq/);
  await seq.getByText("line 2999").waitFor();
  expect((await seq.textContent())?.length).toBeLessThan(10_000);
  await seq.getByRole("button", { name: "Show all 3,000 lines" }).click();
  await expect.poll(() => seq.textContent(), { timeout: patience }).toContain("line 1500");
});

test("an edit is a difference with signs, words and the colours of its language", async () => {
  const before = "func Limit() int {\n\t// how many\n\treturn 10\n}\n";
  const session = await hub.session(
    "Edits",
    [
      told("Edit", { file_path: `${hub.project}/limit.go`, old_string: before, new_string: before.replace("10", "200") }),
      told("Write", { file_path: `${hub.project}/new.ts`, content: "export const a = 'b';\n".repeat(500) }),
      told("Write", { file_path: `${hub.project}/empty.txt`, content: "" }),
      "@say Both are written.",
    ].join("\n"),
    { permission_mode: "acceptEdits" },
  );
  await hub.await(session.id, "idle");
  const page = await chrome.show(hub, `/s/${session.id}`);
  await feed(page).getByText("Both are written.").waitFor();

  const edit = await unfold(page, /^Edit limit\.go \+1 ?−1/);
  const sheet = edit.getByRole("figure", { name: `Changes in ${hub.project}/limit.go: 1 line added, 1 removed` });
  await sheet.waitFor();
  expect(await sheet.locator("mark").allTextContents()).toEqual(["10", "200"]);
  const look = (text: string) =>
    sheet
      .getByText(text, { exact: true })
      .first()
      .evaluate((e) => getComputedStyle(e).color);
  // The languages are loaded on demand, and the colours come beside the page.
  await expect.poll(async () => (await look("func")) !== (await look("// how many")), { timeout: patience }).toBe(true);
  const back = (text: string) =>
    sheet
      .locator("div", { hasText: text })
      .last()
      .evaluate((e) => getComputedStyle(e).backgroundColor);
  expect(await back("return 10")).not.toBe(await back("return 200"));

  // A long file is bounded; of an empty one it is not said that nothing changes.
  const written = await unfold(page, /^Write new\.ts/);
  await written.getByRole("button", { name: "Show 100 more lines" }).waitFor();
  const empty = await unfold(page, /^Write empty\.txt/);
  expect(await empty.textContent()).toContain("Replaces the content with nothing.");
});

// What each card shows of what the CLI tells of a call.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const cards: { name: RegExp; line: string; shows: (RegExp | string)[] }[] = [
  {
    name: /^Read .*slug\.go.*2 of 9 lines/,
    line: lines("read", "Read", { file_path: "/p/slug.go" }, "1\tpackage blog", {
      type: "text",
      file: { filePath: "/p/slug.go", content: "package blog\n// slugs", numLines: 2, startLine: 4, totalLines: 9 },
    }),
    shows: ["4 package blog", "5 // slugs"],
  },
  {
    name: /^Grep TODO.*2 lines/,
    line: lines("grep", "Grep", { pattern: "TODO", output_mode: "content" }, "a.go:3:// TODO one\na.go:9:// TODO two", {
      mode: "content",
      numLines: 2,
    }),
    shows: ["a.go", "3// TODO one", "9// TODO two"],
  },
  {
    name: /^Glob \*\*\/\*\.go.*2 files/,
    line: lines("glob", "Glob", { pattern: "**/*.go" }, "a.go\nb.go", { filenames: ["a.go", "b.go"], numFiles: 2 }),
    shows: ["a.go", "b.go"],
  },
  {
    name: /^To-do list/,
    line: lines(
      "todo",
      "TodoWrite",
      {
        todos: [
          { content: "Fix it", status: "completed" },
          { content: "Try it", status: "pending" },
        ],
      },
      "ok",
    ),
    shows: ["Fix it", "Try it"],
  },
  {
    name: /^WebFetch.*200 OK/,
    line: lines("fetch", "WebFetch", { url: "https://docs.example/a", prompt: "What is it?" }, "# It is a page", {
      code: 200,
      codeText: "OK",
    }),
    shows: ["https://docs.example/a", "What is it?", "It is a page"],
  },
  {
    name: /^WebSearch.*1 result/,
    line: lines("search", "WebSearch", { query: "slugs" }, "found", {
      results: [{ content: [{ title: "Slugs", url: "https://docs.example/s" }] }],
    }),
    shows: ["Slugs", "docs.example"],
  },
  {
    name: /^tickets: create/,
    line: lines("mcp", "mcp__tickets__create", { title: "A ticket", labels: ["one"] }, '{"id":"T-7","deep":{"er":["value"]}}'),
    shows: ["A ticket", "T-7", "value"],
  },
  {
    name: /^NobodyKnows/,
    line: lines("other", "NobodyKnows", { first: { second: "third" } }, "plain words"),
    shows: ["third", "plain words"],
  },
  {
    name: /^Read .*logo\.png.*image/,
    line: lines(
      "image",
      "Read",
      { file_path: "/p/logo.png" },
      [{ type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }],
      { type: "image" },
    ),
    shows: [],
  },
];

test("each tool has a card that shows what it was given and what it gave", async () => {
  const session = await hub.session("Every card", [...cards.map((each) => each.line), "@say All of them."].join("\n"));
  await hub.await(session.id, "idle");
  const page = await chrome.open(await hub.address(`/s/${session.id}`), { viewport: { width: 1280, height: 2400 } });
  await feed(page).getByText("All of them.", { exact: true }).last().waitFor();
  for (const { name, shows } of cards) {
    const drawn = await unfold(page, name);
    for (const what of shows) await expect.poll(() => drawn.textContent(), { timeout: patience }).toMatch(what);
  }
  // Links lead to the web; a picture is shown, and large when it is pressed.
  expect(
    await card(page, /^WebSearch/)
      .getByRole("link", { name: "Slugs" })
      .getAttribute("rel"),
  ).toBe("noopener noreferrer");
  await card(page, /logo\.png/)
    .getByRole("button", { name: "Open image full size" })
    .click();
  await page.getByRole("dialog", { name: "image" }).locator("img").waitFor();
  await page.keyboard.press("Escape");
  // Every card can be copied from, linked to, and seen raw.
  await card(page, /^NobodyKnows/)
    .getByRole("button", { name: "Actions for NobodyKnows" })
    .click();
  await page.getByRole("menuitem", { name: "Show raw lines" }).click();
  await page.getByRole("dialog", { name: "Raw lines" }).getByText("NobodyKnows").first().waitFor();
});

test("what cannot be seen is seen before it is allowed", async () => {
  const command = "make \u202e# fr- mr\u2066 r\u200dm \u3164x";
  const session = await hub.session("Unseen", told("Bash", { command, run_in_background: true }));
  const question = await hub.question(session.id);
  const page = await chrome.open(await hub.address(`/inbox/${question.id}`));
  const asked = page.locator(`#question-${question.id}`);
  await asked.getByText("⟨U+202E⟩").first().waitFor();
  const text = (await asked.textContent()) ?? "";
  expect(text).toContain("make ⟨U+202E⟩# fr- mr⟨U+2066⟩ r⟨U+200D⟩m ⟨U+3164⟩x");
  expect(text).toContain("run_in_background");
  for (const sign of "\u202e\u2066\u200d\u3164") expect(text).not.toContain(sign);
});

test("texts that would take the page along take nothing along", async () => {
  const deep = `${'{"a":'.repeat(3_500)}1${"}".repeat(3_500)}`;
  const quotes = ">".repeat(20_000);
  const session = await hub.session(
    "Means harm to the page",
    [
      `@say ${JSON.stringify(`${quotes} deep`)}`,
      `@say ${JSON.stringify(`a${"_a".repeat(60_000)}`)}`,
      `@say ${JSON.stringify(`\`\`\`cs\n${`${"a".repeat(100)}\n`.repeat(480)}\`\`\`\n\nAfter the code.`)}`,
      lines("deep", "Deep", {}, deep),
      `@line ${JSON.stringify({ type: "assistant", message: { id: "mw", role: "assistant", content: [{ type: "tool_use", id: "wide", name: "W".repeat(5_000), input: JSON.parse(deep) }] } })}`,
    ].join("\n"),
  );
  await hub.await(session.id, "idle");
  const page = await (await chrome.window()).newPage();
  // Some code takes the highlighter minutes: it works beside the page.
  const worker = page.waitForEvent("worker");
  await page.goto(await hub.address(`/s/${session.id}`));
  await feed(page).getByText("After the code.").waitFor();
  await worker;
  expect(await page.getByText("Can't show this").count()).toBe(0);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(2_500);
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("Still here?");
});
