// One flow against the real Claude Code, with a simulated model: what the simulated agent says of itself is no proof.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { step } from "../questions";
import { Chrome, decide, Hub } from "../stage";

let hub: Hub;
let chrome: Chrome;
let model: ChildProcess;
let home: string;

beforeAll(async () => {
  home = mkdtempSync("/tmp/sbw-home-");
  mkdirSync(join(home, "h"));
  const root = resolve(import.meta.dirname, "../../..");
  // A program of our own, since what go run starts would outlive it.
  model = spawn(join(root, "bin/model"), [join(home, "h")], { stdio: ["pipe", "pipe", "inherit"] });
  const told = await new Promise<string>((ok, failed) => {
    createInterface({ input: model.stdout as NodeJS.ReadableStream }).once("line", ok);
    model.once("error", failed);
    model.once("exit", (code) => failed(new Error(`the model ended with ${code}`)));
  });
  const { program, env } = JSON.parse(told) as { program: string; env: string[] };
  const variables = Object.fromEntries(env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  // make puts bubblewrap where only tests find it.
  const bubblewrap = process.env.SWITCHBOARD_BWRAP ? [dirname(process.env.SWITCHBOARD_BWRAP)] : [];
  const path = [...bubblewrap, process.env.PATH ?? ""].join(delimiter);
  hub = await Hub.start({ agent: program, env: { ...variables, PATH: path, SWITCHBOARD_CLAUDE_USE_API_BILLING: "true" } });
  chrome = await Chrome.start();
});
afterEach(async () => {
  expect(await chrome.tidy(), "what went wrong in the browser").toEqual([]);
});
afterAll(async () => {
  await chrome?.stop();
  await hub?.stop();
  model?.stdin?.end();
  rmSync(home, { recursive: true, force: true });
});

test("the real CLI: started, asked, answered, edited and told so", async () => {
  const page = await chrome.open(await hub.address("/"));
  await page.getByRole("button", { name: "New session" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Folder" }).fill(hub.project);
  // The list of suggestions hides the rest of the dialog, and may come at any moment until the field is left.
  await page.keyboard.press("Tab");
  const file = join(hub.project, "made.txt");
  const input = JSON.stringify({ file_path: file, content: "made by the agent\n" });
  await dialog
    .getByRole("textbox", { name: "First message" })
    .fill(`@say I will write it.\n@tool Write ${input}\n@say It is **written**.`);
  await dialog.getByRole("button", { name: "Start" }).click();
  await page.getByText("I will write it.", { exact: true }).first().waitFor();
  expect(existsSync(file), "nothing is written before somebody allows it").toBe(false);
  await decide(page, "Allow once");
  await page.locator("strong", { hasText: "written" }).waitFor();
  await page.getByText("Turn done").first().waitFor();
  expect(readFileSync(file, "utf8")).toBe("made by the agent\n");
  // A second turn, from the composer.
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("@say And again.");
  await page.getByRole("textbox", { name: "Message to the agent" }).press("Enter");
  await page.getByText("And again.", { exact: true }).first().waitFor();
  // No label says that it is simulated.
  expect(await page.getByText("Simulated agents").count()).toBe(0);
});

// The enforcers of other systems are tried without a browser.
test.runIf(process.platform === "linux")("the real CLI in a sandbox: asks for a host, and shows what was refused", async () => {
  const prompt = `@tool Bash ${JSON.stringify({ command: "git ls-remote http://registry.example.com/blog" })}\n@say Over.`;
  const { id } = await hub.session("Held back", prompt, { sandbox: "strict", sandbox_auto_allow: true });
  const page = await chrome.open(await hub.address(`/s/${id}`));
  // The command itself is not asked about.
  await page.getByRole("heading", { name: "Connect to registry.example.com:80?" }).waitFor();
  const reason = page.getByRole("textbox", { name: "Why not? (sent to the program)" });
  await step(page, "Deny…", reason);
  await reason.fill("Not this one.");
  await decide(page, "Deny");
  await page.getByText("Over.", { exact: true }).first().waitFor();
  const call = page.getByRole("article", { name: "Tool Bash" });
  await call.getByText("Sandbox refused a connection to registry.example.com:80").waitFor();
  expect(await call.getByRole("list", { name: "Refused by the sandbox" }).textContent()).toMatch(/git.*Not this one\./);
  await page.getByRole("button", { name: "Sandbox: Strict enforced by bubblewrap" }).click();
  await page.getByRole("dialog", { name: "Strict sandbox" }).getByText("Allowed without asking").waitFor();
});
