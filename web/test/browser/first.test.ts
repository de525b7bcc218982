import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, decide, type Hub, patience } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

test("a code lets in once, leaves the address bar, and the page says what this is for", async () => {
  const address = await hub.address();
  const page = await chrome.open(address);
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  expect(page.url()).not.toContain("code");
  // What a script can read is half of a token, which is worth nothing without the cookie.
  const [seen, kept] = await page.evaluate(() => [document.cookie, localStorage.getItem("switchboard.token") ?? ""]);
  expect(seen).toBe("");
  const half = (JSON.parse(kept) as { text: string }).text;
  expect((await fetch(`${hub.url}/v1/info`, { headers: { Authorization: `Bearer ${half}` } })).status).toBe(401);
  await page.getByText("Simulated agents: no account used, no tools run").waitFor();
  // It stays signed in over a reload, and the code works no more.
  await page.reload();
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  chrome.expected = [/401/];
  const other = await chrome.open(address);
  await other.getByRole("button", { name: "Sign in" }).waitFor();
  await expect.poll(() => other.getByRole("alert").innerText(), { timeout: patience }).toMatch(/code/i);
});

test("without a code the page says how to come by one, and takes a pasted address", async () => {
  const page = await chrome.open(hub.url);
  await page.getByText("switchboard console").first().waitFor();
  await page.getByRole("textbox").fill(await hub.address());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
});

test("an address with a code that is opened in the tab of the login page lets in, or says why not", async () => {
  const page = await chrome.open(hub.url);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  chrome.expected = [/401/];
  // Only the fragment differs, so the browser does not load the page again.
  await page.goto(`${hub.url}/#code=sbc_used`);
  await page.getByText("This code isn't valid").waitFor();
  expect(page.url()).not.toContain("code");
  await page.goto(await hub.address("/inbox"));
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#/inbox");
});

test("an address may name the session that it leads to", async () => {
  const session = await hub.session("The slugs", "@say They are fixed.");
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  await page.getByText("They are fixed.", { exact: true }).first().waitFor();
  expect(new URL(page.url()).hash).toBe(`#/s/${session.id}`);
});

test("an example shows within a minute what this is for", async () => {
  const page = await chrome.open(await hub.address("/"));
  // The sessions of the other tests are in the list, and the welcome page is still there.
  await page.getByRole("button", { name: "A question" }).click();
  await decide(page, "Allow once");
  await page.getByText("Turn done").first().waitFor();
});

test("a token that may only look shows why the rest is not to be had", async () => {
  const session = await hub.session("Only to look at", "@say Look at this.");
  const page = await chrome.open(await hub.address(`/s/${session.id}`, ["observe"]));
  await page.getByText("Look at this.", { exact: true }).first().waitFor();
  const field = page.getByRole("textbox", { name: "Message to the agent" });
  expect(await field.getAttribute("placeholder")).toContain("can view but not send messages");
  expect(await field.isEditable()).toBe(false);
  await hub.await(session.id, "idle");
});
