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
  await stranger.getByRole("button", { name: "Sign in" }).waitFor();
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
  await expect.poll(() => two.getByText(/allowed by Chrome on/i).count(), { timeout: patience }).toBeGreaterThan(0);
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

test("a browser stays signed in, replaces its own token, and signs out; a phone comes by its QR code", async () => {
  const devices = async () => ((await hub.call("list-tokens")).tokens ?? []).filter(({ kind }) => kind === "device");
  await hub.call("revoke-devices"); // those of other tests
  const home = (page: Page) => page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  const window = await chrome.window();
  const first = await window.newPage();
  await first.goto(await hub.address());
  await home(first);
  // The last tab is closed, then browser and hub are started again.
  await first.close();
  const second = await window.newPage();
  await second.goto(hub.url);
  await home(second);
  const [cookie] = await window.cookies();
  expect(cookie).toMatchObject({ name: `switchboard-${new URL(hub.url).port}`, httpOnly: true, sameSite: "Strict" });
  expect((cookie?.expires ?? 0) * 1000 - Date.now()).toBeGreaterThan(29 * 24 * 3600 * 1000);
  const kept = await window.storageState();
  await window.close();
  await hub.kill();
  await hub.up();
  const restarted = await chrome.window({ storageState: kept });
  const page = await restarted.newPage();
  await page.goto(hub.url);
  await home(page);

  // Another login takes the place of the first, also in a tab that is open.
  expect(await devices()).toHaveLength(1);
  const again = await restarted.newPage();
  chrome.expected = [/401|1008|WebSocket/];
  await again.goto(await hub.address("/settings"));
  const list = again.getByRole("list", { name: "Devices" });
  await list.getByText("This device").waitFor();
  expect(await list.getByRole("listitem").allInnerTexts()).toEqual([expect.stringMatching(/^Chrome on \w+ This device/)]);
  await page.goto(`${hub.url}/#/inbox`);
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  expect(await devices()).toHaveLength(1);

  // A phone in the same network: the link has its address, and its QR code is drawn.
  hub.run("console", "--phone", "--listen", "127.0.0.1:0");
  await again.getByRole("button", { name: "Make a link" }).click();
  const dialog = again.getByRole("dialog", { name: "Add a device" });
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await dialog.getByRole("img", { name: "QR code of the link" }).waitFor();
  const link = await dialog.getByText(/^https:.*#code=/).innerText();
  await dialog.getByText(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/).waitFor();
  const phone = await chrome.open(link, {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    ignoreHTTPSErrors: true,
  });
  await phone.getByRole("navigation", { name: "Pages" }).waitFor();
  expect(await phone.context().cookies()).toMatchObject([
    { name: expect.stringMatching(/^__Host-switchboard-\d+$/), secure: true, httpOnly: true, sameSite: "Strict" },
  ]);
  await phone.reload();
  await phone.getByRole("navigation", { name: "Pages" }).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();

  // All other devices are signed out in one step.
  await again.reload();
  await again.getByRole("button", { name: "Sign out all other devices" }).click();
  await again.getByRole("alertdialog").getByRole("button", { name: "Sign out all other devices" }).click();
  await phone.getByRole("button", { name: "Sign in" }).waitFor();
  await expect.poll(async () => (await devices()).length, { timeout: patience }).toBe(1);
  // One's own is warned about, and can be kept.
  const own = list.getByRole("listitem").filter({ hasText: "This device" });
  await own.getByRole("button", { name: "Sign out" }).click();
  await again.getByRole("alertdialog", { name: "Sign out this device?" }).getByRole("button", { name: "Cancel" }).click();

  // Signing out ends the token, in all tabs, for good.
  await again.getByRole("button", { name: "Sign out", exact: true }).last().click();
  for (const tab of [again, page]) await tab.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await devices()).toEqual([]);
  expect(await restarted.cookies()).toEqual([]);
  await page.reload();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});

test("a token that is revoked ends in the login page, which says why; what was typed is there after the next login", async () => {
  const session = await hub.session("Revoked", "@say Still here.");
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  await page.getByText("Still here.", { exact: true }).waitFor();
  const field = page.getByRole("textbox", { name: "Message to the agent" });
  await field.fill("half a sentence");
  chrome.expected = [/401/, /WebSocket connection to/];
  for (const token of (await hub.call("list-tokens")).tokens ?? []) {
    if (token.kind === "device") await hub.call("revoke-token", { params: { id: token.id } });
  }
  await page.getByText("This device was signed out: its access expired or was revoked.").waitFor();
  // Whoever looks over the shoulder of the login page learns nothing of what is behind it.
  expect(await page.title()).toBe("Switchboard");
  await page.getByRole("textbox", { name: "Code, link or token" }).fill(await hub.address());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Still here.", { exact: true }).waitFor();
  expect(await field.inputValue()).toBe("half a sentence");
});
