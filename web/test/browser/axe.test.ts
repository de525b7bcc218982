// Whether the console can be used by everybody, as far as a program can tell.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Node } from "../../src/api/types";
import { onStage } from "../onStage";
import { type Chrome, type Hub, phone, smallPhone, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

const colours = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Blue", description: "Like the sky" },
    { label: "Green", description: "Like grass" },
  ],
};

const machine: Node = {
  id: "n1",
  name: "busy",
  state: "online",
  created: "2026-02-03T04:05:06Z",
  last_seen: "2026-02-03T04:05:06Z",
  version: "v0.0.1",
  os: "linux",
  arch: "amd64",
  hostname: "busy.lan",
  labels: { gpu: "a100" },
  clis: [{ path: "/usr/bin/claude", version: "2.1.325" }],
  sandbox: "bubblewrap",
  cpus: 8,
  load: 0.95,
  memory_bytes: 2 ** 35,
  memory_free: 2 ** 34,
  sessions: 1,
  max_sessions: 2,
  skew_millis: 9000,
  fingerprint: "sha256:Qm9v4x2eZ1u0",
};

/** Machines in every state, with everything that there is to say of them. */
const machines: Node[] = [
  machine,
  { ...machine, id: "n2", name: "empties", state: "draining", draining: true },
  { ...machine, id: "n3", name: "away", state: "offline", draining: true, clis: [], sandbox: undefined },
  { ...machine, id: "n4", name: "out", state: "revoked" },
];

interface Finding {
  id: string;
  impact: string;
  where: string[];
}

const axe = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** What axe finds on the page as it is now, of what keeps people out. */
async function findings(page: Page): Promise<Finding[]> {
  return page.evaluate(async () => {
    // What is fading in has not the colours yet in which it is read; what turns as long as something goes on may turn. Nothing is
    // waited for: a transition in a part that was folded while it ran, as the new session's are, stands still until it is unfolded.
    const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(Number(effect?.getComputedTiming().endTime)));
    for (const animation of ending) animation.finish();
    const { axe } = window as unknown as {
      axe: { run(options: unknown): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, impact, nodes }) => ({ id, impact, where: nodes.map(({ html }) => html.slice(0, 200)) }));
  });
}

// Each layout and each colour scheme once; make soak has them in all combinations.
const looks: [string, BrowserContextOptions][] = [
  ["a desk, light", { colorScheme: "light" }],
  ["a phone, dark", { colorScheme: "dark", ...smallPhone }],
];
if (process.env.SWITCHBOARD_SOAK === "1")
  looks.push(["a desk, dark", { colorScheme: "dark" }], ["a phone, light", { colorScheme: "light", ...phone }]);

test.each(looks)("nobody is kept out, as far as axe can tell: %s", async (_, options) => {
  const title = `Everything ${_}`;
  const [every, asking] = [
    await hub.session(title, "@every"),
    await hub.session(
      `${title}, asking`,
      '@think Hm.\n@say **Look:** `code`\n@tool Edit {"file_path":"notes.txt","old_string":"one","new_string":"1"}\n@result ok',
    ),
  ];
  await hub.question(asking.id);
  const choice = await hub.session(`${title}, a choice`, `@tool AskUserQuestion ${JSON.stringify({ questions: [colours] })}`);
  const plan = await hub.session(`${title}, a plan`, `@tool ExitPlanMode ${JSON.stringify({ plan: "# First\n\n1. `make`" })}`, {
    permission_mode: "plan",
  });
  for (const { id } of [choice, plan]) await hub.question(id);
  // Axe is no part of the page, and would be refused by its policy.
  const window = await chrome.window({ ...options, bypassCSP: true });
  await window.route("**/v1/nodes", (route) => route.fulfill({ json: { nodes: machines } }));
  const page = await window.newPage();
  await page.goto(await hub.address("/"));
  await page.getByText(title).first().waitFor();
  await page.evaluate(axe);
  const at = async (route: string, sign: RegExp) => {
    await page.evaluate((to) => {
      location.hash = to;
    }, route);
    await page.getByRole("heading", { name: sign }).first().waitFor();
    expect(await findings(page), route).toEqual([]);
  };
  expect(await findings(page), "the first page").toEqual([]);
  await at("/inbox", /^Inbox$/);
  await page
    .getByRole("button", { name: /keep planning/ })
    .first()
    .waitFor();
  expect(await findings(page), "every kind of question").toEqual([]);
  await at(`/s/${every.id}`, new RegExp(`^${title}$`));
  await at(`/s/${asking.id}`, new RegExp(`^${title}, asking$`));
  await at(`/s/${every.id}/timeline`, /Timeline/);
  await at("/search?q=look", /^Search$/);
  for (const tab of ["costs", "audit", "drift"]) await at(`/insight/${tab}`, /^Insights$/);
  await at("/rules", /^Rules$/);
  await at("/machines", /^Machines$/);
  await page.getByRole("article", { name: "away" }).waitFor();
  expect(await findings(page), "machines in every state").toEqual([]);
  await at("/settings", /^Settings$/);
  for (const key of ["Control+k", "?", "n"]) {
    const dialog = page.getByRole("dialog");
    // The dialog before may still be leaving, and takes the first key along.
    await until("the dialog is there", async () => {
      await page.evaluate(() => (document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined));
      await page.keyboard.press(key);
      return dialog.waitFor({ timeout: 3000 }).then(
        () => true,
        () => false,
      );
    });
    expect(await findings(page), key).toEqual([]);
    await until("the dialog is gone", async () => {
      await page.keyboard.press("Escape");
      // Not again while it is leaving.
      return dialog.waitFor({ state: "detached", timeout: 3000 }).then(
        () => true,
        () => false,
      );
    });
  }
  for (const { id } of [every, asking, choice, plan]) {
    await hub.call("stop-session", { params: { id }, body: { force: true } });
  }
  // A plan outlives its process.
  const { questions } = await hub.call("list-questions", { query: { state: "open", session: plan.id } });
  for (const { id } of questions ?? []) await hub.call("answer-question", { params: { id }, body: { outcome: "reject" } });
});
