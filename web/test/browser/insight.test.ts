import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, decide, type Hub, patience } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

test("costs, the decision and the timeline tell what a session did", async () => {
  const session = await hub.session(
    "Deploys",
    '@tool Bash {"command":"make deploy"}\n@takes 300ms\n@result deployed\n@say It is live.',
  );
  const page = await chrome.show(hub, "/inbox");
  await decide(page, "Allow once");
  await hub.await(session.id, "idle");

  await page.goto(`${hub.url}/#/insight/costs`);
  await page.getByRole("img", { name: /^Cost over time/ }).waitFor();
  await page.getByRole("row", { name: /Deploys/ }).waitFor();
  await page.getByText("Show as table").click();
  await page.getByRole("columnheader", { name: "When" }).waitFor();
  await page.getByRole("button", { name: /Show$/ }).click();
  await page.getByRole("option", { name: "Tokens" }).click();
  await page.getByRole("img", { name: /^Tokens over time/ }).waitFor();
  for (const [part, row] of [
    ["Model", /opus|sonnet|simulated/],
    ["Folder", /blog/],
    ["Session", /Deploys/],
  ] as const) {
    const table = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: part }) });
    await table.getByRole("row", { name: row }).first().waitFor();
  }

  await page.getByRole("tab", { name: "Decisions" }).click();
  const decision = page.getByRole("list", { name: "Decisions" }).getByRole("listitem").filter({ hasText: "make deploy" });
  await decision.getByText("allow", { exact: true }).waitFor();
  await decision.getByRole("link", { name: "Deploys" }).click();
  await page.getByText("It is live.", { exact: true }).waitFor();

  await page.goto(`${hub.url}/#/s/${session.id}/timeline`);
  const turn = page.getByRole("list", { name: "Turns" });
  await turn.getByRole("button", { name: /^Turn 1/ }).waitFor();
  await turn.getByRole("link", { name: "make deploy", exact: true }).first().waitFor();
  expect(await page.getByText("Waited for you").count()).toBe(1);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /Markdown/ }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toContain("It is live.");
});

test("rules are explained as they are typed, changed in the page, and what allows more must be confirmed", async () => {
  const page = await chrome.show(hub, "/rules");
  const command = page.getByRole("textbox", { name: "Command", exact: true });
  await command.fill("git status");
  await page.getByText("Asks first").waitFor();
  const editor = page.getByRole("textbox", { name: "Rules file" });

  chrome.expected = [/422/]; // the browser tells of each refusal
  await editor.fill("allow = [oops");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").waitFor();

  await editor.fill('allow = ["Bash(git status:*)"]\ndeny = ["Bash(make:*)"]\n');
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText(/calls? checked/).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Confirm change" }).click();
  await page.getByText("Allowed", { exact: true }).waitFor();
  await command.fill("make deploy");
  await page.getByText("Denied", { exact: true }).waitFor();
  // A session has rules of its own, which count for it alone.
  const session = await hub.session("Has its own rules");
  await hub.call("add-rule", { params: { id: session.id }, body: { rule: "Bash(git status:*)", decision: "deny" } });
  await command.fill("git status --short");
  await page.getByText("Allowed", { exact: true }).waitFor();
  await page.getByRole("button", { name: /Use the folder and rules of session/ }).click();
  await page.getByRole("option", { name: /^Has its own rules/ }).click();
  await page.getByText("Denied", { exact: true }).waitFor();
  const policy = await hub.call("get-policy");
  await expect.poll(() => page.getByText("Bash(make:*)", { exact: true }).count(), { timeout: patience }).toBeGreaterThan(0);
  expect(policy.rules?.filter((r) => r.scope === "global").map((r) => r.decision)).toEqual(["allow", "deny"]);
});

test("what agents write and nobody knows is counted by version", async () => {
  const session = await hub.session("Writes of tomorrow", '@line {"type":"tomorrow","text":"not known yet"}\n@say Done.');
  await hub.await(session.id, "idle");
  const page = await chrome.show(hub, "/insight/drift");
  await page.getByRole("row", { name: /tomorrow/ }).waitFor();
});
