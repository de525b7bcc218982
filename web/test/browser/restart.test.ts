import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, decide, type Hub, patience, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

// A hub that is away is seen in the console of the browser: that is the browser's own doing.
const away = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /WebSocket connection to/];

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

const banner = (page: Page) => page.getByRole("button", { name: "Retry now" });

/** Kills the hub, and waits until the page says so. */
async function crash(page: Page): Promise<void> {
  chrome.expected = away;
  await hub.kill();
  await banner(page).waitFor();
}

/** Starts it again, and waits until the page has noticed. */
async function back(page: Page): Promise<void> {
  await hub.up();
  await banner(page)
    .click({ timeout: 2000 })
    .catch(() => {}); // it may have come back by itself
  await banner(page).waitFor({ state: "detached" });
}

test("a hub that is killed and started again: the page says so, then is current, with nothing lost or twice, as if nothing had been", async () => {
  const older = await hub.session("Was before", "@say Long ago.");
  await hub.await(older.id, "idle");
  const session = await hub.session(
    "Goes on",
    '@say Before.\n@tool Bash {"command":"sleep"}\n@takes 3s\n@result rested\n@say After.',
    {
      allowed_tools: ["Bash"],
    },
  );
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  const said = (text: string) => page.getByRole("article").getByText(text, { exact: true });
  await said("Before.").waitFor();
  const updated = async () => (await hub.call("get-session", { params: { id: older.id } })).updated;
  const before = await updated();
  await crash(page);
  expect(await said("Before.").count()).toBe(1);
  await back(page);
  await said("After.").waitFor();
  await page.getByText("Turn done").first().waitFor();
  expect([await said("Before.").count(), await said("After.").count()]).toEqual([1, 1]);
  // The link to the agent was lost for a moment, which is nobody's business any more, and no activity.
  await page.getByText(/link to the agent/i).waitFor({ state: "detached" });
  expect(await updated()).toBe(before);
});

test("a page that is opened for the first time while the hub is away comes, in its style, when it is back", async () => {
  const page = await chrome.open(await hub.address("/inbox"));
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await crash(page);
  await page.getByRole("link", { name: "Insights" }).click();
  await page.getByText("Loading…").first().waitFor();
  await back(page);
  const tabs = page.getByRole("tablist", { name: "Insights" });
  await tabs.waitFor();
  await expect.poll(() => tabs.locator("..").evaluate((e) => getComputedStyle(e).overflowY), { timeout: patience }).toBe("auto");
});

test("a question that was open is still there after a restart, and can be answered", async () => {
  const session = await hub.session("Asks", '@tool Write {"file_path":"new.txt","content":"hello"}\n@result ok\n@say Written.');
  const question = await hub.question(session.id);
  const page = await chrome.open(await hub.address("/inbox"));
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await crash(page);
  await back(page);
  await decide(page, "Allow once");
  const settled = await until("the answer has come", async () => {
    const now = await hub.call("get-question", { params: { id: question.id } });
    return now.state === "open" ? undefined : now;
  });
  expect(settled).toMatchObject({ state: "answered", answer: { decision: "allow" } });
  await hub.await(session.id, "idle");
});

test("a reload in the middle of an answer shows what was written, and goes on", async () => {
  const words = Array.from({ length: 400 }, (_, i) => `w${i}`).join(" ");
  const session = await hub.session("Writes slowly", `@slow 400ms\n@say ${words}`);
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  /** The last word of the answer that is on the page. */
  const reached = async () => {
    const texts = await page.getByRole("article").allInnerTexts();
    // The prompt has all words; the answer is the last article, and has so far only the first ones.
    const numbers = [...(texts.at(-1) ?? "").matchAll(/w(\d+)/g)].map((m) => Number(m[1]));
    return numbers[0] === 0 ? numbers.at(-1) : undefined;
  };
  await until("it is being written", async () => ((await reached()) ?? 0) > 5);
  await page.reload();
  const after = await until("what was written is there again", async () =>
    ((await reached()) ?? 399) < 399 ? await reached() : undefined,
  );
  await until("it goes on", async () => ((await reached()) ?? 0) > after);
  expect(await page.getByText("Turn done").count()).toBe(0);
  await hub.call("interrupt-session", { params: { id: session.id } });
});

test("another journal leads to what is in it, without a reload", async () => {
  const data = join(hub.folder, "data");
  const copy = join(hub.folder, "copy");
  const journal = (path: string) => !path.startsWith(join(data, "run"));
  const session = await hub.session("Restored", "@say This was saved.");
  await hub.await(session.id, "idle");
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  await page.getByText("This was saved.", { exact: true }).waitFor();
  await hub.call("stop-session", { params: { id: session.id } });
  await crash(page);
  cpSync(data, copy, { recursive: true, filter: journal });
  await back(page);
  await hub.say(session.id, "@say This will be lost.");
  await page.getByText("This will be lost.", { exact: true }).waitFor();
  await hub.await(session.id, "idle");
  await hub.call("stop-session", { params: { id: session.id } });
  await crash(page);
  for (const name of ["journal.db", "journal.db-wal", "journal.db-shm", "blobs"])
    rmSync(join(data, name), { recursive: true, force: true });
  cpSync(copy, data, { recursive: true });
  await back(page);
  await expect.poll(() => page.getByText("This will be lost.", { exact: true }).count(), { timeout: patience }).toBe(0);
  await page.getByText("This was saved.", { exact: true }).waitFor();
});
