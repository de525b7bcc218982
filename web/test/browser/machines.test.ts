// Agents on other machines: how one is added, chosen, seen and taken away. The machine is a process of the real program.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { Machine } from "../machine";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience, smallPhone, until } from "../stage";

let hub: Hub;
let chrome: Chrome;
const machines: Machine[] = [];

// Registered before onStage: what is registered last runs first, so the hub stops the agents while their machines are there.
afterAll(async () => {
  await Promise.all(machines.map((machine) => machine.stop()));
});

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

/** A machine of the hub, which is ended with the file. */
async function machine(name: string, labels?: Record<string, string>): Promise<Machine> {
  const made = await Machine.join(hub, { name, ...(labels ? { labels } : {}) });
  machines.push(made);
  return made.up();
}

const card = (page: Page, name: string) => page.getByRole("article", { name, exact: true });

async function act(page: Page, name: string, entry: RegExp): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: entry }).click();
}

test("a machine is added by keyboard, and the dialog sees it come", async () => {
  const page = await chrome.show(hub, "/");
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.getByRole("heading", { name: "No other machines" }).waitFor();
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Add a machine" });
  await dialog.getByRole("textbox", { name: "Name" }).waitFor();
  await page.keyboard.type("desk-1");
  await page.keyboard.press("Tab");
  await page.keyboard.type("room=attic");
  await page.keyboard.press("Control+Enter");
  const command =
    (await dialog.getByRole("region", { name: "Run this on the other machine" }).locator("pre").textContent()) ?? "";
  expect(command).toContain(`switchboard node join ${hub.url}`);
  await dialog.getByText("Waiting for the machine…").waitFor();
  // The hub of this test listens on its own machine alone.
  await dialog.getByText("This address works only on the hub’s own machine").waitFor();

  const desk = Machine.accept(hub, "desk-1", { command });
  machines.push(desk);
  await dialog.getByText("desk-1 has joined.").waitFor();
  await desk.up();
  await dialog.getByText("desk-1 is connected.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await card(page, "desk-1").getByText("Online").waitFor();
  await card(page, "desk-1").getByText("room=attic").waitFor();
  await page.keyboard.press("j");
  expect(await card(page, "desk-1").evaluate((e) => e === document.activeElement)).toBe(true);
  // It is gone and comes back while the page is open.
  await desk.down();
  await card(page, "desk-1").getByText("Offline").waitFor();
  await desk.up();
  await card(page, "desk-1").getByText("Online").waitFor();
});

test("a session is started on a machine, in a folder that is suggested from there, and named beside it", async () => {
  const gpu = await machine("gpu-1", { gpu: "a100" });
  const page = await chrome.show(hub, "/");
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByRole("button", { name: /This machine/ }).click();
  await page.getByRole("option", { name: /gpu=a100/ }).click();
  const folder = dialog.getByRole("combobox", { name: "Folder" });
  await folder.fill(join(gpu.folder, "tr"));
  await page.getByRole("option", { name: gpu.project }).click();
  await dialog.getByRole("textbox", { name: "First message" }).fill("@say From another machine.");
  await page.keyboard.press("Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("From another machine.", { exact: true }).first().waitFor();

  const id = new URL(page.url()).hash.slice("#/s/".length);
  expect((await hub.call("get-session", { params: { id } })).node).toBe("gpu-1");
  await page.getByRole("link", { name: "Machine gpu-1" }).waitFor(); // in the header
  const row = page.getByRole("list", { name: "List of sessions" }).getByRole("listitem").filter({ hasText: "Machine gpu-1" });
  await row.waitFor();

  // The palette finds it by the machine.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("gpu-1");
  await page.getByRole("option", { name: /gpu-1/ }).first().waitFor();
  // The first one empties the field.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Command palette" }).waitFor({ state: "detached" });

  // The machine is remembered, and says why it takes nothing now.
  await hub.call("drain-node", { params: { node: "gpu-1" }, body: { draining: true } });
  await until("the dialog is open", async () => {
    await page.keyboard.press("n");
    return dialog.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
  await dialog.getByText("Draining: takes no new sessions").waitFor();
  await page.keyboard.press("Control+Enter");
  expect(await dialog.isVisible()).toBe(true);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await hub.call("drain-node", { params: { node: "gpu-1" }, body: { draining: false } });
});

test("a session is started by labels, by keyboard, on the machine that has them", async () => {
  await machine("rack-1", { rack: "b7", zone: "us" });
  const fit = await machine("rack-2", { rack: "b7", zone: "eu" });
  const page = await chrome.show(hub, "/");
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(fit.project);
  await page.keyboard.press("Tab"); // closes the suggestions, which hide the rest
  await dialog.getByRole("textbox", { name: "First message" }).fill("@say Chosen by labels.");
  await dialog.getByRole("button", { name: /Machine$/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: /^By labels/ }).waitFor();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const labels = dialog.getByRole("combobox", { name: "Labels" });
  await labels.waitFor();
  await page.keyboard.press("Tab");
  expect(await labels.evaluate((e) => e === document.activeElement)).toBe(true);

  // No machine has this one, which is told where it was typed.
  await page.keyboard.type("rack=b8");
  await page.keyboard.press("Control+Enter");
  await dialog.getByText("No machine has this label.").waitFor();
  await expect.poll(() => labels.getAttribute("aria-invalid"), { timeout: patience }).toBe("true");

  // A list that has just changed has no current entry: the key is pressed again until the wanted one is.
  const pick = async (name: RegExp) => {
    const option = page.getByRole("option", { name });
    await until(`${name} is the current entry`, async () => {
      await page.keyboard.press("ArrowDown");
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      return (await option.count()) === 1 && (await option.getAttribute("data-focused")) !== null;
    });
    await page.keyboard.press("Enter");
  };
  await labels.fill("rack");
  await pick(/^rack=b7/);
  await dialog.getByText("Runs on the least loaded of 2 machines: rack-1, rack-2.").waitFor();
  await page.keyboard.type(", z");
  await pick(/zone=eu/);
  await expect.poll(() => labels.inputValue(), { timeout: patience }).toBe("rack=b7, zone=eu");
  await dialog.getByText("Runs on rack-2.").waitFor();
  await page.keyboard.press("Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Chosen by labels.", { exact: true }).first().waitFor();
  const id = new URL(page.url()).hash.slice("#/s/".length);
  expect((await hub.call("get-session", { params: { id } })).node).toBe("rack-2");
  await page.getByRole("link", { name: "Machine rack-2" }).waitFor();

  // They are remembered for the next one.
  await until("the dialog is open", async () => {
    await page.keyboard.press("n");
    return dialog.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
  expect(await labels.inputValue()).toBe("rack=b7, zone=eu");
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

test("a machine is drained and taken back, locked out and forgotten, and it is said what happens to its sessions", async () => {
  const lab = await machine("lab-1");
  const session = await hub.call("create-session", {
    body: { dir: lab.project, title: "Stays there", prompt: "@say Here.", node: "lab-1" },
  });
  await hub.await(session.id, "idle");
  const page = await chrome.show(hub, "/machines");
  await card(page, "lab-1").getByText("Online").waitFor();
  await act(page, "lab-1", /^Drain/);
  await page.getByText("lab-1 takes no new sessions; 1 session continues").waitFor();
  await card(page, "lab-1").getByText("Draining").waitFor();
  await act(page, "lab-1", /^Stop draining/);
  await card(page, "lab-1").getByText("Online").waitFor();

  await act(page, "lab-1", /^Revoke/);
  const revoke = page.getByRole("alertdialog", { name: "Revoke “lab-1”?" });
  await revoke.getByText("1 session goes offline.").waitFor();
  await revoke.getByRole("button", { name: "Revoke" }).click();
  await card(page, "lab-1").getByText("Revoked").waitFor();
  await until(
    "the session is offline",
    async () => (await hub.call("get-session", { params: { id: session.id } })).state === "offline",
  );

  await act(page, "lab-1", /^Forget/);
  const forget = page.getByRole("alertdialog", { name: "Forget “lab-1”?" });
  await forget.getByText("1 running session ends.").waitFor();
  await forget.getByRole("button", { name: "Forget" }).click();
  await card(page, "lab-1").waitFor({ state: "detached" });
  const ended = await hub.await(session.id, "ended");
  // Its name stays with what it did.
  expect(ended.node).toBe("lab-1");
});

test("nothing reaches beyond the smallest phone, and without the right nothing can be changed", async () => {
  const name = "a-machine-with-a-name-that-is-nearly-as-long-as-a-name-may-be.lan";
  machines.push(
    await Machine.join(hub, {
      name: name.slice(0, 63).replace(/[.-]$/, ""),
      labels: { purpose: "a-label-that-is-long".repeat(3) },
    }),
  );
  const page = await chrome.open(await hub.address("/settings", ["observe"]), smallPhone);
  await page.getByRole("link", { name: "Show machines" }).click();
  await page.getByRole("heading", { name: "Machines", level: 1 }).waitFor();
  await page.getByRole("article").first().waitFor();
  const wider = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(await wider()).toBeLessThanOrEqual(0);
  const beyond = await page.evaluate(
    () =>
      [...document.querySelectorAll("article, article *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length,
  );
  expect(beyond).toBe(0);
  expect(await page.getByRole("button", { name: "Add a machine" }).getAttribute("aria-disabled")).toBe("true");
  await page
    .getByRole("button", { name: /^Actions for/ })
    .first()
    .click();
  const drain = page.getByRole("menuitem", { name: /^Drain/ });
  await drain.waitFor();
  expect(await drain.getAttribute("aria-disabled")).toBe("true");
  expect(await drain.textContent()).toContain("Needs the scope “admin”");
  await expect.poll(wider, { timeout: patience }).toBeLessThanOrEqual(0);
});
