import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

test("what is remembered for a folder is what the next session there begins with", async () => {
  const page = await chrome.open(await hub.address());
  const dialog = page.getByRole("dialog", { name: "New session" });
  const open = async () => {
    await page.getByRole("button", { name: "New session" }).first().click();
    await dialog.getByRole("combobox", { name: "Folder" }).fill(hub.project);
    await page.keyboard.press("Tab"); // closes the suggestions, which hide the rest
  };
  await open();
  await dialog.getByRole("button", { name: "Permission mode" }).click();
  await page.getByRole("option", { name: "Accept edits" }).click();
  await dialog.getByRole("combobox", { name: "Model" }).fill("opus");
  await dialog.getByText("Remember for this folder").click();
  await dialog.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/#\/s\//);
  const saved = await until("it is remembered", async () => (await hub.call("get-preferences")).saved?.[0]);
  expect(saved).toMatchObject({ dir: hub.project, permission_mode: "acceptEdits", model: "opus" });

  // Another browser of the same person, which has no choices of its own from before.
  await page.evaluate(() => localStorage.removeItem("switchboard.new-session"));
  await page.reload();
  await open();
  await dialog.getByText("Filled in from what you prefer for this folder.").waitFor();
  expect(await dialog.getByRole("combobox", { name: "Model" }).inputValue()).toBe("opus");
  expect(await dialog.getByRole("button", { name: "Permission mode" }).textContent()).toContain("Accept edits");
  await page.keyboard.press("Escape");
});

test("a variable is set from the menu of a session, and its value is shown nowhere", async () => {
  chrome.expected = [/422/];
  const { id } = await hub.session("Variables", "@say Ready.");
  await hub.await(id, "idle");
  const page = await chrome.show(hub, `/s/${id}`);
  await page.getByRole("button", { name: "Session menu" }).click();
  await page.getByRole("menuitem", { name: "Environment variables", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Environment variables" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const value = dialog.getByLabel("Value");
  await name.fill("LANG");
  await value.fill("hush-hush");
  await dialog.getByRole("button", { name: "Set variable" }).click();
  await dialog.getByText(/only up to 2\.1\.173/).waitFor();
  await name.fill("CLAUDE_CODE_OAUTH_TOKEN");
  await dialog.getByRole("button", { name: "Set variable" }).click();
  await dialog.getByText("CLAUDE_CODE_OAUTH_TOKEN was set").waitFor();
  expect(await value.inputValue()).toBe("");
  const { events } = await hub.call("get-events", { params: { id }, query: { limit: "1000" } });
  const log = JSON.stringify(events);
  expect(log).toContain('"CLAUDE_CODE_OAUTH_TOKEN":"hidden"');
  expect(log).not.toContain("hush-hush");
  await dialog.getByRole("button", { name: "Close" }).last().click();
});
