import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, decide, type Hub, patience } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

test("a new tab of the same browser needs no code, another browser does", async () => {
  const session = await hub.session("Linked", "@say Found by a link.");
  const window = await chrome.window();
  const first = await window.newPage();
  await first.goto(await hub.address());
  await first.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  const second = await window.newPage();
  await second.goto(`${hub.url}/#/s/${session.id}`);
  await second.getByText("Found by a link.", { exact: true }).waitFor();
  const stranger = await chrome.open(hub.url);
  await stranger.getByRole("button", { name: "Open the console" }).waitFor();
});

test("two pages are in step: what one sends and answers, the other shows, with who did it", async () => {
  const session = await hub.session("Shared");
  const [one, two] = await Promise.all([
    chrome.open(await hub.address(`/s/${session.id}`)),
    chrome.open(await hub.address(`/s/${session.id}`)),
  ]);
  const field = one.getByRole("textbox", { name: "Message to the agent" });
  await field.fill('@tool Write {"file_path":"new.txt","content":"hello"}\n@result ok\n@say Both see this.');
  await field.press("Enter");
  await two.getByRole("button", { name: "Allow once" }).waitFor();
  await decide(one, "Allow once");
  await two.getByRole("button", { name: "Allow once" }).waitFor({ state: "detached" });
  await expect.poll(() => two.getByText(/allowed by console/i).count(), { timeout: patience }).toBeGreaterThan(0);
  for (const page of [one, two]) await page.getByText("Both see this.", { exact: true }).waitFor();
  // A title that is given in one is in the list of the other.
  await hub.call("update-session", { params: { id: session.id }, body: { title: "Shared by two" } });
  for (const page of [one, two]) await page.getByRole("navigation", { name: "Sessions" }).getByText("Shared by two").waitFor();
});

test("what was typed is there again when its tab was closed, is in all tabs, and is gone in all once it was sent", async () => {
  const session = await hub.session("Half written", "@say Go on.");
  const window = await chrome.window();
  const keeper = await window.newPage();
  await keeper.goto(await hub.address());
  await keeper.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  const at = `${hub.url}/#/s/${session.id}`;
  const field = (page: Page) => page.getByRole("textbox", { name: "Message to the agent" });
  const open = async () => {
    const page = await window.newPage();
    await page.goto(at);
    await page.getByText("Go on.", { exact: true }).waitFor();
    return page;
  };
  const first = await open();
  await field(first).fill("@say half a sentence");
  await first.close();

  const [second, third] = [await open(), await open()];
  for (const page of [second, third]) expect(await field(page).inputValue()).toBe("@say half a sentence");
  await field(second).fill("@say a whole sentence");
  await expect.poll(() => field(third).inputValue(), { timeout: patience }).toBe("@say a whole sentence");
  await field(third).press("Enter");
  await third.getByText("a whole sentence", { exact: true }).first().waitFor();
  await expect.poll(() => field(second).inputValue(), { timeout: patience }).toBe("");
  expect(await field(await open()).inputValue()).toBe("");
});

test("a token that is revoked ends in the login page, which says why; what was typed is there after the next login", async () => {
  const session = await hub.session("Revoked", "@say Still here.");
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  await page.getByText("Still here.", { exact: true }).waitFor();
  const field = page.getByRole("textbox", { name: "Message to the agent" });
  await field.fill("half a sentence");
  chrome.expected = [/401/, /WebSocket connection to/];
  for (const token of (await hub.call("list-tokens")).tokens ?? []) {
    if (token.name.startsWith("console")) await hub.call("revoke-token", { params: { id: token.id } });
  }
  await page.getByText("Your access has expired or was revoked.").waitFor();
  // Whoever looks over the shoulder of the login page learns nothing of what is behind it.
  expect(await page.title()).toBe("Switchboard");
  await page.getByRole("textbox", { name: "Code, address or token" }).fill(await hub.address());
  await page.getByRole("button", { name: "Open the console" }).click();
  await page.getByText("Still here.", { exact: true }).waitFor();
  expect(await field.inputValue()).toBe("half a sentence");
});
