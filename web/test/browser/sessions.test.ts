import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience, program, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

const list = (page: Page) => page.getByRole("list", { name: "List of sessions" });
const row = (page: Page, title: string) => list(page).getByRole("listitem").filter({ hasText: title });
const eventually = { timeout: patience };

/** Waits until the list has just these sessions, in whatever order. */
async function listed(page: Page, ...titles: string[]): Promise<void> {
  await expect
    .poll(async () => (await list(page).getByRole("link").allInnerTexts()).sort(), eventually)
    .toEqual([...titles].sort());
}

test("each example of the welcome page leads to what it promises", async () => {
  const page = await chrome.open(await hub.address());
  const promised = [
    ["A question", "permission"],
    ["An edit", "permission"],
    ["A plan", "plan"],
    ["A choice", "choice"],
  ] as const;
  for (const [name, kind] of promised) {
    await page.getByRole("main").getByRole("button", { name, exact: true }).click();
    await page.waitForURL(/#\/s\//);
    const id = new URL(page.url()).hash.split("/")[2] ?? "";
    expect((await hub.question(id)).kind, name).toBe(kind);
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
  }
  // The newcomer is told that something waits.
  await page.getByRole("link", { name: "4 open questions", exact: true }).waitFor();
  for (const session of (await hub.call("list-sessions")).sessions ?? []) {
    await hub.call("stop-session", { params: { id: session.id }, body: { force: true } });
    await hub.call("archive-session", { params: { id: session.id } });
  }
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
});

test("the list shows what happens while it happens, and can be narrowed down, grouped and walked through", async () => {
  const page = await chrome.open(await hub.address());
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  const asks = await hub.session("Asks something", '@tool Bash {"command":"rm -rf build"}');
  const idle = await hub.session("Has a rest", "@say Done.");
  await hub.question(asks.id);
  await hub.await(idle.id, "idle");
  await listed(page, "Asks something", "Has a rest");
  await expect.poll(() => row(page, "Asks something").innerText(), eventually).toMatch(/Needs you/);
  await expect.poll(() => row(page, "Has a rest").innerText(), eventually).toMatch(/Finished[\s\S]*blog[\s\S]*\$/);
  // What waits for somebody is first.
  expect(await list(page).getByRole("link").first().innerText()).toBe("Asks something");

  await hub.call("update-session", { params: { id: idle.id }, body: { title: "Has another name" } });
  await listed(page, "Asks something", "Has another name");
  await hub.call("stop-session", { params: { id: idle.id } });
  await expect.poll(() => row(page, "Has another name").innerText(), eventually).toMatch(/Ended/);

  await page.getByRole("radio", { name: "Ended 1" }).click();
  await listed(page, "Has another name");
  await page.getByRole("radio", { name: "All" }).click();
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("some blog");
  await listed(page, "Asks something");
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("nothing is called so");
  await page.getByRole("button", { name: "Clear filter" }).click();
  await listed(page, "Asks something", "Has another name");

  await page.getByRole("button", { name: "Sort and group" }).click();
  await page.getByRole("menuitem", { name: "State" }).click();
  await expect.poll(() => list(page).getByRole("heading").allInnerTexts(), eventually).toEqual(["Needs you\n1", "Ended\n1"]);
  await page.reload();
  await list(page).getByRole("heading", { name: "Ended" }).waitFor();
  await page.getByRole("button", { name: "Sort and group" }).click();
  await page.getByRole("menuitem", { name: "None" }).click();

  await list(page).getByRole("link", { name: "Asks something" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/#/s/${idle.id}`);
  await page.getByRole("heading", { name: "Has another name" }).waitFor();
  // Away from the field of the composer, which takes letters for itself.
  await list(page).getByRole("link", { name: "Has another name" }).focus();
  await page.keyboard.press("[");
  await page.waitForURL(`**/#/s/${asks.id}`);
});

test("what failed can be retried, and what happened since somebody looked is marked until it is looked at", async () => {
  const page = await chrome.open(await hub.address());
  // What is there when a browser comes for the first time is not news.
  await expect.poll(() => row(page, "Has another name").innerText(), eventually).toMatch(/Ended/);
  const untitled = await hub.session("", "@say A first answer.\n@say It has two parts.");
  await hub.await(untitled.id, "idle");
  const bad = await hub.session("Breaks", "@error 400");
  await until("it has failed", async () => (await hub.call("get-session", { params: { id: bad.id } })).failed);

  // One name, in the list, above the conversation and in the API, whatever is said later.
  const name = "@say A first answer.";
  await expect.poll(() => row(page, name).innerText(), eventually).toMatch(/It has two parts\.[\s\S]*Finished/);
  await list(page).getByRole("link", { name }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
  await expect.poll(() => row(page, name).innerText(), eventually).toMatch(/Idle/);
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await hub.say(untitled.id, "@say A second answer.");
  await expect.poll(() => row(page, name).innerText(), eventually).toMatch(/A second answer\.[\s\S]*Finished/);
  await page.reload();
  await expect.poll(() => row(page, name).innerText(), eventually).toMatch(/Finished/);
  expect(await hub.call("get-session", { params: { id: untitled.id } })).toMatchObject({ title: name });

  await page.getByRole("radio", { name: "Failed 1" }).click();
  await listed(page, "Breaks");
  expect(await row(page, "Breaks").innerText()).toMatch(/Failed/);
  await row(page, "Breaks").getByRole("button", { name: "Retry Breaks" }).click();
  await page.getByText("Prompt sent again").waitFor();
  await until("it was tried again", async () => {
    const { cost, failed } = await hub.call("get-session", { params: { id: bad.id } });
    return cost?.turns === 2 && failed;
  });
  await page.getByRole("radio", { name: "All" }).click();
  for (const id of [untitled.id, bad.id]) await hub.call("archive-session", { params: { id } });
});

test("a session is started by keyboard, in a folder that is suggested, with everything that was chosen", async () => {
  const page = await chrome.open(await hub.address());
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  const folder = dialog.getByRole("combobox", { name: "Folder" });
  await folder.fill(hub.project.slice(0, -2));
  await page.getByRole("option", { name: hub.project }).click();
  expect(await folder.inputValue()).toBe(hub.project);
  await dialog.getByRole("textbox", { name: "First message" }).fill("@say Begun from the dialog.");
  await dialog.getByRole("textbox", { name: "Title" }).fill("From the dialog");
  const mode = dialog.getByRole("button", { name: "Permission mode" });
  await mode.click();
  await page.getByRole("option", { name: "Bypass permissions" }).click();
  const danger = page.getByRole("alertdialog", { name: "Bypass permissions?" });
  await danger.getByRole("button", { name: "Cancel" }).click();
  await danger.waitFor({ state: "detached" });
  expect(await mode.textContent()).toContain("Default");
  await mode.click();
  await page.getByRole("option", { name: "Accept edits" }).click();
  await dialog.getByRole("button", { name: "Rules" }).click();
  await dialog.getByRole("textbox", { name: "Never allowed" }).fill("Bash(git push:*)");
  await dialog.getByRole("button", { name: "Limits" }).click();
  await dialog.getByRole("textbox", { name: "Budget (USD)" }).fill("much");
  await dialog.getByRole("button", { name: "Start" }).click();
  await dialog.getByText("Enter a number above zero, or leave empty.").waitFor();

  // What was typed is there again after a reload.
  await page.reload();
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  const recentAgain = page.waitForResponse(/\/v1\/folders/);
  await page.keyboard.press("n");
  await recentAgain;
  // Suggestions would hide the rest of the dialog: they wait until something is typed.
  expect(await dialog.getByRole("textbox", { name: "First message" }).inputValue()).toBe("@say Begun from the dialog.");
  await dialog.getByRole("textbox", { name: "Budget (USD)" }).fill("1.5");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/#\/s\//);
  await page.getByText("Begun from the dialog.", { exact: true }).first().waitFor();
  const session = await hub.call("get-session", { params: { id: new URL(page.url()).hash.split("/")[2] ?? "" } });
  expect(session).toMatchObject({
    title: "From the dialog",
    dir: hub.project,
    options: { permission_mode: "acceptEdits", disallowed_tools: ["Bash(git push:*)"], max_budget_usd: 1.5 },
  });
  await hub.await(session.id, "idle");
});

test("a folder that does not exist is told where it was typed", async () => {
  chrome.expected = [/422/];
  const page = await chrome.open(await hub.address());
  await page.getByRole("main").getByRole("button", { name: "New session" }).press("Enter");
  const folder = page.getByRole("combobox", { name: "Folder" });
  await folder.fill("/nowhere/at/all");
  await page.keyboard.press("Control+Enter");
  // Once, where it was typed.
  await page.getByText(/\/nowhere\/at\/all/).waitFor();
  expect(await page.getByText(/\/nowhere\/at\/all/).count()).toBe(1);
  expect(await folder.getAttribute("aria-invalid")).toBe("true");
});

test("a hit of the search leads to the event that it was found in", async () => {
  const session = await hub.session("Fruit", "@say A quince among the pears.");
  await hub.await(session.id, "idle");
  await until("the search finds it", async () => (await hub.call("search", { query: { q: "quince" } })).hits?.length);
  const page = await chrome.open(await hub.address());
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Search all conversations" }).fill("quin");
  const hits = page.getByRole("list", { name: "Messages found" });
  const hit = hits.getByRole("listitem").filter({ hasText: "Claude" });
  expect(await hit.locator("mark").innerText()).toBe("quince");
  expect(new URL(page.url()).hash).toBe("#/search?q=quin");
  await hit.getByRole("link", { name: "Fruit" }).click();
  await page.waitForURL(new RegExp(`#/s/${session.id}/e/`));
  await page.getByText("A quince among the pears.", { exact: true }).first().waitFor();
  await page.goBack();
  await hit.waitFor();

  await page.getByRole("searchbox", { name: "Search all conversations" }).fill("medlar");
  await page.getByRole("heading", { name: "No messages match “medlar”" }).waitFor();
});

test("a conversation from disk is found by its words, read, and gone on with as a copy", async () => {
  const session = await hub.session("Written down", "@say The walnut is on the shelf.");
  await hub.await(session.id, "idle");
  const page = await chrome.open(await hub.address());
  // Not by a click: what the hub tells moves the button.
  await page.getByRole("main").getByRole("button", { name: "Import a conversation" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Import a conversation" });
  await dialog.getByRole("searchbox", { name: "Search conversations" }).fill("walnut");
  const found = dialog.getByRole("list", { name: "Conversations on disk" }).getByRole("button");
  await expect.poll(() => found.count(), eventually).toBe(1);
  await found.click();
  await dialog.getByRole("region", { name: "Preview" }).getByText("The walnut is on the shelf.", { exact: true }).waitFor();
  // Two agents must not write to one conversation.
  expect(await dialog.getByRole("button", { name: "Continue it" }).getAttribute("aria-disabled")).toBe("true");
  await dialog.getByRole("textbox", { name: "Next message" }).fill("@say And so is the copy.");
  await dialog.getByRole("button", { name: "Continue a copy" }).click();
  await page.waitForURL(/#\/s\//);
  expect(page.url()).not.toContain(session.id);
  await page.getByText("And so is the copy.", { exact: true }).first().waitFor();
  await page.getByText("The walnut is on the shelf.", { exact: true }).first().waitFor();

  // Once its process has ended, the conversation itself can be had.
  await hub.call("stop-session", { params: { id: session.id } });
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await expect.poll(() => row(page, "Written down").innerText(), eventually).toMatch(/Ended/);
  await page.getByRole("main").getByRole("button", { name: "Import a conversation" }).press("Enter");
  await dialog.getByRole("searchbox", { name: "Search conversations" }).fill("walnut");
  await expect.poll(() => found.count(), eventually).toBe(2);
  await found.last().click();
  await dialog.getByRole("button", { name: "Open session" }).click();
  await page.waitForURL(/#\/s\//);
});

test("several sessions are stopped and archived at once, and taken back", async () => {
  const titles = ["First of three", "Second of three", "Third of three"];
  const sessions = await Promise.all(titles.map((title) => hub.session(title, "@say Here.")));
  for (const session of sessions) await hub.await(session.id, "idle");
  const page = await chrome.open(await hub.address());
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("of three");
  await listed(page, ...titles);
  await page.getByRole("button", { name: "Select", exact: true }).click();
  const bar = page.getByRole("toolbar", { name: "Actions for the selected sessions" });
  await bar.getByRole("button", { name: "Select all" }).click();
  await bar.getByText("3 sessions selected").waitFor();
  await bar.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Stop" }).click();
  for (const session of sessions) await hub.await(session.id, "ended");
  await expect.poll(() => list(page).getByText("Ended", { exact: true }).count(), eventually).toBe(3);

  // One alone, and undone.
  await row(page, "First of three").hover();
  await page.getByRole("button", { name: "Actions for First of three" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await listed(page, "Second of three", "Third of three");
  await page.getByRole("button", { name: "Undo" }).click();
  await listed(page, ...titles);

  await page.getByRole("button", { name: "Select", exact: true }).click();
  await page.getByRole("checkbox", { name: "Select Second of three" }).press("Space");
  await page.getByRole("checkbox", { name: "Select Third of three" }).press("Space");
  await bar.getByRole("button", { name: "Archive" }).click();
  await listed(page, "First of three");
  await page.getByRole("button", { name: "Archived sessions" }).click();
  await page.getByRole("heading", { name: "Archived sessions" }).waitFor();
  await listed(page, "Second of three", "Third of three");
  await row(page, "Third of three").hover();
  await page.getByRole("button", { name: "Actions for Third of three" }).click();
  await page.getByRole("menuitem", { name: "Unarchive" }).click();
  await listed(page, "Second of three");
  await page.getByRole("button", { name: "Back to sessions" }).click();
  await listed(page, "First of three", "Third of three");
});

test("who may only look sees the list, and why nothing can be changed", async () => {
  await hub.session("To look at", "@say Look.").then((session) => hub.await(session.id, "idle"));
  const page = await chrome.open(await hub.address("/", ["observe"]));
  await list(page).getByRole("link", { name: "To look at" }).waitFor();
  const start = page.getByRole("main").getByRole("button", { name: "New session" });
  expect(await start.getAttribute("aria-disabled")).toBe("true");
  // A pointer that comes from somewhere, as people's do.
  await page.getByRole("heading", { name: "Your agents, in one place" }).hover();
  await start.hover();
  await page.getByRole("tooltip").getByText("admin").waitFor();
  await page.keyboard.press("n");
  await page.getByRole("button", { name: "Select", exact: true }).click();
  await page.getByRole("button", { name: "Select all" }).click();
  expect(await page.getByRole("toolbar").getByRole("button", { name: "Stop" }).getAttribute("aria-disabled")).toBe("true");
  expect(await page.getByRole("toolbar").getByRole("button", { name: "Archive" }).getAttribute("aria-disabled")).toBe("true");
  expect(await page.getByRole("dialog").count()).toBe(0);
});

test("a CLI that somebody starts with the command of the console dials in, and the command is kept nowhere", async () => {
  const page = await chrome.open(await hub.address());
  await page.getByRole("button", { name: "New session" }).first().click();
  await page.getByRole("button", { name: "Connect your own Claude Code" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect your own Claude Code" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(hub.project);
  await page.keyboard.press("Tab"); // the suggestions, if there are any, are closed by that
  await dialog.getByRole("textbox", { name: "First message" }).fill("@say Dialled in.");
  await dialog.getByRole("button", { name: /^Create session/ }).click();
  const command = await dialog.locator("pre").innerText();
  expect(command).toMatch(/CLAUDE_CODE_SESSION_ACCESS_TOKEN=sbr_/);
  const secret = /sbr_\w+/.exec(command)?.[0] ?? "";
  const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  expect(await kept()).not.toContain(secret);
  await dialog.getByRole("button", { name: "Done, open the session" }).click();
  await page.waitForURL(/#\/s\//);
  expect(await page.content()).not.toContain(secret);

  const programs = join(hub.folder, "programs");
  mkdirSync(programs);
  symlinkSync(program, join(programs, "claude"));
  const cli = spawn("/bin/sh", ["-c", command], {
    env: {
      PATH: programs,
      HOME: join(hub.folder, "home"),
      GORACE: "atexit_sleep_ms=0",
      SWITCHBOARD_SIM_VERSION: "2.1.120",
    },
    stdio: "ignore",
  });
  const ended = once(cli, "exit");
  await page.getByText("Dialled in.", { exact: true }).first().waitFor();
  const id = new URL(page.url()).hash.split("/")[2] ?? "";
  await hub.call("stop-session", { params: { id }, body: {} });
  await ended;
});
