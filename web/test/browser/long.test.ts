// Conversations that are long, and texts that mean harm.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/api/types";
import { longAnswer, longSession, words } from "../long";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience, until } from "../stage";

let hub: Hub;
let chrome: Chrome;
let long: Session;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});
beforeAll(async () => {
  long = await longSession(hub, 10_000);
});

const feed = (page: Page) => page.getByRole("feed", { name: "Conversation" });

/** How far the reader is from the end, in pixels. */
const fromEnd = (page: Page) => feed(page).evaluate((e) => Math.round(e.scrollHeight - e.clientHeight - e.scrollTop));

/** The row in the middle of the screen, and where it is. */
const middle = (page: Page) =>
  feed(page).evaluate((e) => {
    const box = e.getBoundingClientRect();
    const row = document
      .elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
      ?.closest<HTMLElement>("[data-item]");
    return { id: row?.dataset.item ?? "", top: row?.getBoundingClientRect().top ?? 0 };
  });

const topOf = (page: Page, id: string) =>
  page.evaluate((item) => document.querySelector(`[data-item="${CSS.escape(item)}"]`)?.getBoundingClientRect().top, id);

/** Opens the long conversation and waits until its end is on the screen. */
async function openLong(): Promise<Page> {
  const context = await chrome.window();
  await context.addInitScript(() => {
    // The empty page, which comes first, has no storage.
    if (location.protocol === "http:") localStorage.setItem("switchboard.count", "yes");
  });
  const page = await context.newPage();
  await page.goto(await hub.address(`/s/${long.id}`));
  await feed(page).getByText("Turn done").last().waitFor();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  return page;
}

test("ten thousand messages are few elements, and the end is what one sees", async () => {
  const page = await openLong();
  expect(await feed(page).getByRole("article").count()).toBeLessThan(60);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(2500);
});

test("a delta draws its own row, and no other", async () => {
  const page = await openLong();
  const before = await page.evaluate(() => {
    const rows = new Set(document.querySelectorAll('[role="feed"] article'));
    const log = { others: 0, own: 0, rows: rows.size };
    const feed = document.querySelector('[role="feed"]');
    const observer = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const row = (target instanceof Element ? target : target.parentElement)?.closest("article");
        if (row) log[rows.has(row) ? "others" : "own"]++;
      }
    });
    if (feed) observer.observe(feed, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { seen: log });
    return (window as unknown as { __switchboard: { rows: number } }).__switchboard.rows;
  });
  await hub.say(long.id, `@slow 15ms\n@think Let me see.\n${longAnswer(100, "That was the answer.")}`);
  await feed(page).getByText("That was the answer.", { exact: true }).last().waitFor();
  const after = await page.evaluate(() => ({
    drawn: (window as unknown as { __switchboard: { rows: number } }).__switchboard.rows,
    seen: (window as unknown as { seen: { others: number; own: number; rows: number } }).seen,
  }));
  expect(after.seen.rows).toBeGreaterThan(5);
  // A busy machine draws many deltas at once.
  expect(after.seen.own, "the answer grew before our eyes").toBeGreaterThan(1);
  expect(after.seen.others, "changes in rows that were there before").toBe(0);
  // It came in some dozens of pieces. Drawing all rows for each of them would be hundreds.
  expect(after.drawn - before).toBeLessThan(120);
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  await hub.await(long.id, "idle");
});

test("what one reads stays where it is, whatever comes above or below", async () => {
  const page = await openLong();
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await page.route(/\/events\?/, async (route) => {
    await gate;
    await route.continue();
  });
  await feed(page).dispatchEvent("wheel"); // somebody does it: what moves by itself while rows are measured goes back to the end
  await feed(page).evaluate((e) => e.scrollTo({ top: 0 }));
  await page.getByText("Loading older messages").waitFor();
  const mark = await until("a row is in the middle", async () => {
    const first = await middle(page);
    const again = await middle(page);
    return first.id !== "" && first.id === again.id && first.top === again.top && first;
  });
  const height = await feed(page).evaluate((e) => e.scrollHeight);
  open();
  await expect.poll(() => feed(page).evaluate((e) => e.scrollHeight), { timeout: patience }).toBeGreaterThan(height + 1000);
  await expect
    .poll(async () => Math.abs(((await topOf(page, mark.id)) ?? -1e6) - mark.top), { timeout: patience })
    .toBeLessThan(2);

  await hub.say(long.id, longAnswer(30, "Far below."));
  const pill = page.getByRole("button", { name: /new message/ });
  await pill.waitFor();
  expect(Math.abs(((await topOf(page, mark.id)) ?? -1e6) - mark.top)).toBeLessThan(2);
  await pill.click();
  await feed(page).getByText("Far below.", { exact: true }).last().waitFor();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  await hub.await(long.id, "idle");
});

test("g g goes to the very first message, and what is expanded at the end stays under the pointer", async () => {
  const page = await openLong();
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.getByText(/Going to the first message: [\d,]+ loaded/).waitFor();
  await feed(page).getByText(words(0), { exact: true }).waitFor();
  await expect.poll(() => feed(page).evaluate((e) => e.scrollTop), { timeout: patience }).toBeLessThan(20);
  expect(await feed(page).locator('[aria-posinset="1"]').textContent()).toContain("Session created");
  expect(await feed(page).getByRole("article").count()).toBeLessThan(60);
  await page.keyboard.press("G");
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);

  const thought = Array.from({ length: 30 }, (_, n) => `Line ${n} of a thought.\n\n`).join("");
  await hub.say(long.id, `@think ${JSON.stringify(thought)}\n@say There.`);
  await hub.await(long.id, "idle");
  await feed(page).getByText("There.", { exact: true }).last().waitFor();
  const card = feed(page)
    .getByRole("button", { name: /^Thought/ })
    .last();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  const before = (await card.boundingBox())?.y ?? 0;
  const height = await feed(page).evaluate((e) => e.scrollHeight);
  // Each frame that is painted from now on: it does not even jump away and back.
  await card.evaluate((button) => {
    const seen: number[] = [];
    Object.assign(window, { tops: seen });
    const look = () => {
      seen.push(Math.round(button.getBoundingClientRect().top));
      requestAnimationFrame(look);
    };
    look();
  });
  await card.click();
  await expect.poll(() => feed(page).evaluate((e) => e.scrollHeight), { timeout: patience }).toBeGreaterThan(height + 20);
  await page.getByRole("button", { name: "Jump to the end" }).waitFor();
  expect(Math.abs(((await card.boundingBox())?.y ?? 0) - before)).toBeLessThan(2);
  const tops = await page.evaluate(() => (window as unknown as { tops: number[] }).tops);
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(3);
});

test("a link leads into the middle, and keys act on what is there", async () => {
  const page =
    (await hub.call("get-events", { params: { id: long.id }, query: { limit: "1000", types: "assistant" } })).events ?? [];
  const event = page.find((e) => JSON.stringify(e.line ?? "").includes(words(301)))?.id ?? "";
  expect(event).not.toBe("");
  const window = await chrome.window({ permissions: ["clipboard-read", "clipboard-write"] });
  const tab = await window.newPage();
  await tab.goto(await hub.address(`/s/${long.id}/e/${event}`));
  const row = feed(tab)
    .getByRole("article", { name: "Agent message" })
    .filter({ hasText: words(301) });
  await row.waitFor();
  await expect.poll(() => row.evaluate((e) => e === document.activeElement), { timeout: patience }).toBe(true);
  const box = await row.boundingBox();
  expect(box?.y).toBeGreaterThan(60);
  expect(box?.y).toBeLessThan(700);
  const clipboard = () => tab.evaluate(() => navigator.clipboard.readText());
  await tab.keyboard.press("y");
  await expect.poll(clipboard, { timeout: patience }).toBe(words(301));
  await tab.keyboard.press("l");
  await expect.poll(clipboard, { timeout: patience }).toContain(`#/s/${long.id}/e/`);
  await tab.keyboard.press("r");
  const dialog = tab.getByRole("dialog", { name: "Raw lines" });
  await dialog.getByText(event).first().waitFor();
  await tab.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await tab.keyboard.press("k");
  await expect.poll(() => tab.evaluate(() => document.activeElement?.textContent), { timeout: patience }).toContain("echo 300");
  // What is far away is found, too, though it is not on the screen.
  await tab.keyboard.press("Control+f");
  await tab.getByRole("textbox", { name: "Find in this conversation" }).fill("message 308:");
  await tab.keyboard.press("Enter");
  await feed(tab).getByText(words(308)).waitFor();
  await tab.getByText("1 of 1", { exact: true }).waitFor();
  // Whoever has gone to read what was found looks for the next with the same keys.
  const field = tab.getByRole("textbox", { name: "Find in this conversation" });
  await feed(tab).getByText(words(308)).click();
  await expect.poll(() => field.evaluate((e) => e === document.activeElement), { timeout: patience }).toBe(false);
  await tab.keyboard.press("Control+f");
  await expect.poll(() => field.evaluate((e) => e === document.activeElement), { timeout: patience }).toBe(true);
});

const hostile = `<script>window.hacked = 1</script>

a <img src=x onerror="window.hacked = 1"> b <svg onload="window.hacked = 1"></svg>

<img alt="a picture" src="https://other.example/a.png">

![another](https://other.example/b.png) [plain](javascript:window.hacked=1) [web](https://other.example/)

<a href="javascript:window.hacked=1">tag</a> <b style="position:fixed;inset:0">over all</b>

<iframe src="https://other.example/"></iframe>

<style>* { display: none }</style>

<form action="https://other.example/"><input name="a"><button>send</button></form>

| <img src=x onerror=window.hacked=1> | <b onclick="window.hacked=1">x</b> |
|---|---|

\`\`\`"><script>window.hacked = 1</script>
<script>window.hacked = 1</script>
\`\`\`

The end of it.`;

test("what means harm is shown, and does none", async () => {
  const session = await hub.session("Means harm", `@think ${JSON.stringify(hostile)}\n@say ${JSON.stringify(hostile)}`);
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  await feed(page).getByText("The end of it.", { exact: true }).last().waitFor();
  await feed(page)
    .getByRole("button", { name: /^Thought/ })
    .click();
  await expect.poll(() => feed(page).getByText("The end of it.", { exact: true }).count(), { timeout: patience }).toBe(2);
  const found = await feed(page).evaluate((e) => ({
    bad: e.querySelectorAll("script, img, iframe, style, form, input, object, embed, [style*=fixed]").length,
    links: [...e.querySelectorAll("a[href]")].map((a) => a.getAttribute("href") ?? ""),
    hacked: "hacked" in window,
  }));
  expect(found.hacked).toBe(false);
  expect(found.bad).toBe(0);
  expect(found.links.length).toBeGreaterThan(2);
  for (const href of found.links) expect(href).toMatch(/^https:\/\/other\.example\//);
  await feed(page).getByText("<script>window.hacked = 1</script>").first().waitFor();
});

test("a line of five megabytes is shown in part, and the page stays quick", async () => {
  const session = await hub.session("Huge", "@huge 5000000");
  await hub.await(session.id, "idle"); // else "Show all" is about what has been written by then
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  const more = feed(page).getByRole("button", { name: /^Show (more|all)/ });
  await more.waitFor();
  expect(await feed(page).evaluate((e) => e.textContent?.length ?? 0)).toBeLessThan(300_000);
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("Still here?");
  await more.click();
  await expect
    .poll(() => feed(page).evaluate((e) => e.textContent?.length ?? 0), { timeout: patience })
    .toBeGreaterThan(1_000_000);
});
