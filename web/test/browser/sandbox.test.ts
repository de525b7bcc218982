// What holds an agent back: how it is chosen, shown, asked about, and what it refused.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { CreateSession, Event, Question, Sandbox, SandboxRefusal, Session } from "../../src/api/types";
import { answerTo, card, chrome, hub, key, onQuestions, step } from "../questions";
import { decide, smallPhone, until } from "../stage";

onQuestions();

const strict: Sandbox = {
  mode: "strict",
  enforcer: "bubblewrap",
  network: "listed",
  auto_allow: true,
  hidden: 14,
  limits: ["Files that match a rule and appear later are not hidden."],
};

/** Has a page see a session as that of an agent in a sandbox, which refused something while its tools ran. */
async function boxed(page: Page, id: string, sandbox: Sandbox, refusals: readonly SandboxRefusal[] = []): Promise<void> {
  await page.route(`**/v1/sessions/${id}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as Session), sandbox } });
  });
  await page.route(`**/v1/sessions/${id}/events?*`, async (route) => {
    const response = await route.fetch();
    const found = (await response.json()) as { events: Event[] };
    const left = [...refusals];
    // In the place of events that are not shown, behind the calls.
    const events = found.events.reverse().map((e) => {
      const data = e.kind === "state" ? left.pop() : undefined;
      return data ? { ...e, kind: "sandbox_refused", data } : e;
    });
    await route.fulfill({ response, json: { ...found, events: events.reverse() } });
  });
}

test("a badge says what a sandbox means, by keyboard, and what was refused stands beside the call", async () => {
  const prompt = '@tool Read {"file_path":"notes.txt"}\n@result one\n@say Read.';
  const { id } = await hub.session("Held back", prompt, { allowed_tools: ["Read"] });
  await hub.await(id, "idle");
  const events = (await hub.call("get-events", { params: { id }, query: { limit: "1000" } })).events ?? [];
  const use = /"tool_use_id":"(toolu_\w+)"/.exec(JSON.stringify(events))?.[1] ?? "";
  const page = await chrome.open(await hub.address("/"));
  const rule = { decision: "deny" as const, rule: "Network(host:tracker.example)", scope: "global" as const };
  await boxed(page, id, strict, [
    { kind: "network", host: "tracker.example", port: 443, command: "curl https://tracker.example", tool_use_id: use, rule },
    { kind: "network", host: "2001:db8::1", port: 80, command: "node server.js", reason: "no rule allows this host" },
  ]);
  await page.evaluate((to) => {
    location.hash = to;
  }, `/s/${id}`);

  const badge = page.getByRole("button", { name: "Sandbox: Strict enforced by bubblewrap" });
  await badge.focus();
  await page.keyboard.press("Enter");
  const meaning = page.getByRole("dialog", { name: "Strict sandbox" });
  await meaning.getByText("new hosts are asked about").waitFor();
  expect(await meaning.textContent()).toContain("14 paths");
  await page.keyboard.press("Escape");
  await meaning.waitFor({ state: "detached" });
  expect(await badge.evaluate((e) => e === document.activeElement)).toBe(true);

  const call = page.getByRole("article", { name: "Tool Read" });
  await call.getByText("Sandbox refused a connection to tracker.example:443").waitFor();
  expect(await call.textContent()).toContain("Denied by the rule Network(host:tracker.example)");
  const alone = page.getByRole("article", { name: "Refused by the sandbox" });
  expect(await alone.textContent()).toContain("Sandbox refused a connection to [2001:db8::1]:80");
});

test("what is not enforced is loud, and fits on a small phone", async () => {
  const { id } = await hub.session("Not held back", "@say Ready.");
  await hub.await(id, "idle");
  const page = await chrome.open(await hub.address("/"), smallPhone);
  await boxed(page, id, {
    mode: "deny-only",
    enforcer: "none",
    reason: "bubblewrap isn’t installed, and the kernel has no Landlock",
  });
  await page.evaluate((to) => {
    location.hash = to;
  }, `/s/${id}`);
  await page.getByRole("button", { name: /^Sandbox deny only: Not enforced: bubblewrap/ }).tap();
  const meaning = page.getByRole("dialog", { name: "Sandbox not enforced" });
  await meaning.getByText("Rules apply to tool calls only").waitFor();
  const box = await meaning.boundingBox();
  expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 360).toBe(true);
});

/** The rule about a host as the hub suggests it where a shim asks. */
const suggestion = {
  text: "allow Network(host:registry.example.com)",
  update: {
    type: "addRules",
    behavior: "allow",
    destination: "session",
    rules: [{ toolName: "Network", ruleContent: "host:registry.example.com" }],
  },
  destination: "session",
};

test("a host is asked about, and allowed for the session or by a rule, with the keys of permissions", async () => {
  const connect = { host: "registry.example.com", port: 443, command: "npm install left-pad" };
  const { id } = await hub.session("Hosts", `@tool SandboxNetworkAccess ${JSON.stringify(connect)}\n@result ok\n@say Connected.`);
  const q = await hub.question(id);
  // The agent itself asks here: it is shown as what the sandbox asks.
  const page = await chrome.open(await hub.address("/"));
  await page.route("**/v1/questions?*", async (route) => {
    const response = await route.fetch();
    const found = (await response.json()) as { questions: Question[] };
    const questions = found.questions.map((one) => ({ ...one, request_id: "sandbox-1", suggestions: [suggestion] }));
    await route.fulfill({ response, json: { ...found, questions } });
  });
  await page.reload();
  await page.evaluate((to) => {
    location.hash = to;
  }, `/s/${id}`);
  await page.getByRole("heading", { name: "Connect to registry.example.com:443?" }).waitFor();
  await card(page, q).getByText("npm install left-pad").first().waitFor();
  expect(
    await card(page, q)
      .getByRole("button", { name: /Deny and stop|Edit/ })
      .count(),
  ).toBe(0);
  await page.keyboard.press("q");
  const rule = page.getByRole("textbox", { name: "Rule" });
  await key(page, q, "a", async () => (await rule.count()) > 0);
  expect(await rule.inputValue()).toBe("Network(host:registry.example.com)");
  expect(await page.getByRole("radiogroup", { name: "Applies to" }).getByRole("radio").count()).toBe(2);
  await step(page, "Back", page.getByRole("button", { name: "Allow for this session" }));
  await decide(page, "Allow for this session");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", always: { suggestion: 0, destination: "session" } });
  await page.getByText("Connected.", { exact: true }).waitFor();
});

test("a sandbox is chosen for a session and remembered for its folder", async () => {
  const page = await chrome.open(await hub.address());
  // Whether this machine can enforce one is tried elsewhere: here the session is started without.
  let sent: CreateSession | undefined;
  await page.route("**/v1/sessions", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent = route.request().postDataJSON() as CreateSession;
    const { sandbox: _sandbox, sandbox_auto_allow: _auto, ...options } = sent.options ?? {};
    return route.continue({ postData: JSON.stringify({ ...sent, options }) });
  });
  await page.getByRole("button", { name: "New session" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(hub.project);
  // A list of folders may come up late, and hides the rest until it is left.
  const choice = dialog.getByRole("button", { name: "Sandbox" });
  await until("the folders are out of the way", async () => {
    await page.keyboard.press("Tab");
    return (await choice.count()) > 0;
  });
  const auto = dialog.getByRole("checkbox", { name: "Allow commands without asking" });
  expect(await auto.isDisabled()).toBe(true);
  await choice.click();
  await page.getByRole("option", { name: "Strict" }).click();
  await dialog.getByText("Allow commands without asking").click();
  await dialog.getByText("Remember for this folder").click();
  await dialog.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/#\/s\//);
  expect(sent?.options).toEqual({ permission_mode: "default", sandbox: "strict", sandbox_auto_allow: true });
  const saved = await until("it is remembered", async () => (await hub.call("get-preferences")).saved?.[0]);
  expect(saved).toMatchObject({ dir: hub.project, sandbox: "strict", sandbox_auto_allow: true });
});
