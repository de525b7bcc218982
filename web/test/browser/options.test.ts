// The options of a new session: presets, a fresh start for each turn, and a dialog that fits on a phone with everything unfolded.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Chrome, Hub, smallPhone, until } from "../stage";

let hub: Hub;
let chrome: Chrome;
const folder = mkdtempSync(join(tmpdir(), "sbo-"));

const config = `
[preset.review]
description = "Reads, and changes nothing"
permission_mode = "plan"
max_budget_usd = 2
fresh = true
env = { API_TOKEN = "hush" }
`;

beforeAll(async () => {
  const file = join(folder, "config.toml");
  writeFileSync(file, config, { mode: 0o600 });
  [hub, chrome] = await Promise.all([Hub.start({ args: ["--config", file] }), Chrome.start()]);
});
afterEach(async () => {
  expect(await chrome.tidy(), "what went wrong in the browser").toEqual([]);
});
afterAll(async () => {
  await chrome?.stop();
  await hub?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a preset fills in the form by keyboard, and each turn has a process of its own", async () => {
  const page = await chrome.open(await hub.address());
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(hub.project);
  await page.keyboard.press("Tab"); // closes the suggestions, which hide the rest
  await dialog.getByRole("button", { name: /Preset/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: /review/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await dialog.getByText("not shown: env (API_TOKEN)").waitFor();
  // What the preset sets is unfolded, and can be changed.
  expect(await dialog.getByRole("checkbox", { name: /Fresh start for each turn/ }).isChecked()).toBe(true);
  await dialog.getByRole("textbox", { name: "Budget (USD)" }).fill("");
  await dialog.getByRole("textbox", { name: "First message" }).fill("@say One.");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/#\/s\//);
  const id = new URL(page.url()).hash.split("/")[2] ?? "";
  await page.getByText("One.", { exact: true }).first().waitFor();
  await hub.say(id, "@say Two.");
  await page.getByText("Two.", { exact: true }).first().waitFor();
  const session = await until("both turns are done", async () => {
    const now = await hub.call("get-session", { params: { id } });
    return now.state === "ended" && now.text === "Two." ? now : undefined;
  });
  expect(session.run).toBe(2);
  expect(session.options).toEqual({ permission_mode: "plan", fresh: true });
  expect(JSON.stringify(session)).not.toContain("hush");
});

test("everything unfolded fits on a small phone", async () => {
  const page = await chrome.open(await hub.address(), smallPhone);
  const recent = page.waitForResponse(/\/v1\/folders/);
  await page.getByRole("button", { name: "New session" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New session" });
  await recent;
  for (const part of ["Rules", "Limits", "Turns and answers", "More options", "Environment and Claude Code"]) {
    const trigger = dialog.getByRole("button", { name: part, exact: true });
    await trigger.click();
    expect(await trigger.getAttribute("aria-expanded")).toBe("true");
  }
  await dialog.getByRole("textbox", { name: "Environment variables" }).fill("A=1");
  const wide = await dialog.evaluate((box) =>
    [box, ...box.querySelectorAll<HTMLElement>("*")]
      .filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1)
      .map((e) => e.outerHTML.slice(0, 120)),
  );
  expect(wide).toEqual([]);
});
