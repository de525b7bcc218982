// How a conversation is read: what goes on in it, where one was, and what is far inside.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Session } from "../../src/api/types";
import { longSession } from "../long";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

const feed = (page: Page) => page.getByRole("feed", { name: "Conversation" });
const fromEnd = (page: Page) => feed(page).evaluate((e) => Math.round(e.scrollHeight - e.clientHeight - e.scrollTop));

/** The row at the top of what is seen, and how far below the edge it begins. */
const topRow = (page: Page) =>
  feed(page).evaluate((e) => {
    const edge = e.getBoundingClientRect().top;
    const rows = [...e.querySelectorAll<HTMLElement>("[aria-posinset]")].map((row) => ({
      row,
      box: row.getBoundingClientRect(),
    }));
    const first = rows.filter(({ box }) => box.bottom > edge + 1).sort((a, b) => a.box.top - b.box.top)[0];
    return { id: first?.row.dataset.item ?? "", top: Math.round((first?.box.top ?? 0) - edge) };
  });

/** What a list shows once it stands still. */
const settled = (page: Page) =>
  until("the list stands still", async () => {
    const first = await topRow(page);
    await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
    const again = await topRow(page);
    return first.id !== "" && first.id === again.id && first.top === again.top && first;
  });

/** Goes to another place of the console without loading the page anew. */
const goTo = (page: Page, route: string) =>
  page.evaluate((to) => {
    location.hash = `#${to}`;
  }, route);

test("a compaction is seen and told as long as it goes on, also by who comes in the middle", async () => {
  const status = JSON.stringify({ type: "system", subtype: "status", status: "compacting", session_id: "s" });
  const session = await hub.session("Sums up", "@say Hello.");
  await hub.await(session.id, "idle");
  const page = await chrome.show(hub, `/s/${session.id}`);
  await feed(page).getByText("Turn done").waitFor();
  await hub.say(session.id, `@line ${status}\n@slow 1m\n@say One, two, three, four, five, six, seven, eight, nine, ten.`);
  const row = feed(page).getByRole("article").filter({ hasText: "Compacting the conversation" });
  await row.waitFor();
  await page.getByRole("status").filter({ hasText: "Compacting the conversation" }).waitFor({ state: "attached" });
  await expect.poll(() => row.textContent(), { timeout: patience }).toMatch(/conversation\d+s/);
  await page.reload();
  await row.waitFor();
  await hub.call("interrupt-session", { params: { id: session.id }, body: {} });
  await row.waitFor({ state: "detached" });
  await page.getByRole("status").filter({ hasText: "Turn interrupted" }).waitFor({ state: "attached" });
  await feed(page).getByText("Turn interrupted").waitFor();
  expect(await feed(page).textContent()).not.toContain("ede_diagnostic");
});

test("whoever comes back is where they were, and at the end if they were there", async () => {
  const long = await longSession(hub, 600);
  const other = await hub.session("Another one", "@say Here.");
  const page = await chrome.open(await hub.address(`/s/${long.id}`));
  await feed(page).getByText("Turn done").last().waitFor();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  const visit = async () => {
    await goTo(page, `/s/${other.id}`);
    await feed(page).getByText("Here.", { exact: true }).waitFor();
    await goTo(page, `/s/${long.id}`);
    await feed(page)
      .getByText(/Message \d+/)
      .first()
      .waitFor();
  };
  await visit();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  // Something in between is open, which makes it higher.
  await feed(page).hover();
  await page.mouse.wheel(0, -3000);
  await settled(page);
  const thought = feed(page)
    .getByRole("button", { name: /^Thought/ })
    .first();
  await thought.click();
  const before = await settled(page);
  await visit();
  await expect.poll(() => topRow(page), { timeout: patience }).toEqual(before);
  expect(await settled(page)).toEqual(before);
  // What comes below does not move it.
  await hub.say(long.id, "@say Far below.");
  await page.getByRole("button", { name: /new message/ }).waitFor();
  expect(await settled(page)).toEqual(before);
  // A link is stronger than where one was, and whoever leaves at the end comes back to it.
  await page.getByRole("button", { name: /new message/ }).click();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
  await visit();
  await feed(page).getByText("Far below.", { exact: true }).last().waitFor();
  await expect.poll(() => fromEnd(page), { timeout: patience }).toBeLessThan(2);
});

/** A session in which a sub-agent has called another one, and has done much before and after it. */
async function deepSession(): Promise<Session> {
  const line = (message: object, parent: string | null, type = "assistant") => ({
    type,
    message,
    parent_tool_use_id: parent,
    uuid: randomUUID(),
    session_id: "s",
  });
  const said = (text: string, parent: string | null = null) =>
    line({ id: randomUUID(), role: "assistant", content: [{ type: "text", text }] }, parent);
  const call = (id: string, description: string, parent: string | null = null) => {
    const input = { description, subagent_type: "general-purpose", prompt: `Do: ${description}` };
    return line({ id: randomUUID(), role: "assistant", content: [{ type: "tool_use", id, name: "Task", input }] }, parent);
  };
  const gave = (id: string, parent: string | null = null) =>
    line({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "Reported." }] }, parent, "user");
  const many = (from: number, parent: string | null = null) =>
    Array.from({ length: 40 }, (_, i) => said(`Step ${from + i} of it.\n\nWith some more words.`, parent));
  const lines = [
    ...many(0),
    call("outer", "look around"),
    ...many(100, "outer"),
    call("inner", "look closer", "outer"),
    ...many(200, "inner"),
    said("There is the needle.", "inner"),
    ...many(300, "inner"),
    gave("inner", "outer"),
    ...many(400, "outer"),
    gave("outer"),
    ...many(500),
  ];
  const file = join(hub.folder, "deep.jsonl");
  writeFileSync(file, `${lines.map((one) => JSON.stringify(one)).join("\n")}\n`);
  const session = await hub.session("Deep", `@play 1 ${file}`);
  return hub.await(session.id, "idle");
}

test("what a sub-agent of a sub-agent said is found, and a link leads to it", async () => {
  const session = await deepSession();
  const page = await chrome.show(hub, `/s/${session.id}`);
  await feed(page).getByText("Turn done").last().waitFor();
  await page.keyboard.press("Control+f");
  const field = page.getByRole("textbox", { name: "Find in this conversation" });
  await field.fill("the needle");
  await page.keyboard.press("Enter");
  await page.getByText("1 of 1", { exact: true }).waitFor();
  const row = feed(page).locator("article[data-selected]").filter({ hasText: "There is the needle." });
  const inside = async () => {
    const box = await row.boundingBox();
    const around = await feed(page).boundingBox();
    return box !== null && around !== null && box.y >= around.y && box.y + box.height <= around.y + around.height;
  };
  await row.waitFor();
  await expect.poll(inside, { timeout: patience }).toBe(true);
  // Few steps are drawn of the many.
  expect(await feed(page).getByRole("article").count()).toBeLessThan(150);
  // The next enter stays with the only one; the agent's own call is found by what it was told.
  await field.fill("do: look closer");
  await page.keyboard.press("Enter");
  await feed(page).getByText("Do: look closer").first().waitFor();
  // A link to it leads there, on a page that has opened nothing yet.
  const events = await hub.call("get-events", { params: { id: session.id }, query: { limit: "1000", types: "assistant" } });
  const event = events.events?.find((e) => JSON.stringify(e.line ?? "").includes("the needle"))?.id;
  expect(event).toBeDefined();
  await page.goto(await hub.address(`/s/${session.id}/e/${event}`));
  await row.waitFor();
  await expect.poll(inside, { timeout: patience }).toBe(true);
  await expect.poll(() => row.evaluate((e) => e === document.activeElement), { timeout: patience }).toBe(true);
});
