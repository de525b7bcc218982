// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Json, Session } from "../api/types";
import { commandGroups } from "../app/commands";
import { secretDraft } from "../store/drafts";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { SessionHeader } from "./Header";
import { grant } from "./Hold";
import { closePanel, openFork, openPanel, openRewind } from "./panels";

let hub: FakeHub;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {}, removeEventListener: () => {} }));
  vi.stubGlobal("CSS", { escape: (text: string) => text }); // jsdom has none, and dialogs want it
  sessionStorage.clear();
  hub = fakeHub();
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(() => {
  act(() => {
    closePanel();
    root.unmount();
  });
  place.remove();
  vi.unstubAllGlobals();
});

async function draw(parts: Partial<Session> = {}) {
  const session = hub.open("s1");
  await act(async () => {
    session.snapshot.set({ session: aSession(parts) });
    root.render(
      <HubContext value={hub}>
        <SessionHeader session={session} />
      </HubContext>,
    );
  });
  return session;
}

function button(name: string): HTMLButtonElement {
  const found = [...document.querySelectorAll("button")].find((b) => (b.getAttribute("aria-label") ?? b.textContent) === name);
  if (!found) throw new Error(`there is no button ${name}`);
  return found;
}

async function click(name: string) {
  await act(async () => button(name).click());
}

test("a session that has ended says why and is resumed once", async () => {
  hub.api.on("resume-session", () => aSession());
  await draw({ state: "ended", linked: false, ended: { reason: "it was stopped", code: 0 } });
  expect(place.textContent).toContain("it was stopped");
  await click("Resume");
  expect(hub.api.of("resume-session")).toMatchObject([{ params: { id: "s1" }, body: { client_id: expect.any(String) } }]);
});

test("a session without a title is called by its folder, and a title hides nothing", async () => {
  await draw({ title: "", dir: "/src/shop" });
  expect(place.querySelector("h1")?.textContent).toBe("Session in shop");
  await draw({ title: "safe \u202eevil" });
  expect(place.querySelector("h1")?.textContent).toBe("safe ⟨U+202E⟩evil");
});

test("a session that waits for a CLI to dial in says so, until it has", async () => {
  await draw({ state: "starting", linked: false, transport: "websocket" });
  expect(place.textContent).toContain("Waiting for Claude Code to connect");
  await draw({ state: "starting", linked: false, transport: "shim" });
  expect(place.textContent).not.toContain("waits for a Claude Code");
  await draw({ state: "idle", linked: true, transport: "websocket" });
  expect(place.textContent).not.toContain("waits for a Claude Code");
});

test("a session that dialed in without a token says so, and which runner it named", async () => {
  await draw({ transport: "websocket", unauthenticated: true, runner: "env-runner 1.2" });
  expect(place.textContent).toContain("unauthenticated");
  expect(place.textContent).toContain("runner env-runner 1.2");
  await draw({ transport: "websocket" });
  expect(place.textContent).not.toContain("unauthenticated");
  expect(place.textContent).not.toContain("runner");
});

test("whatever its menu offers is in the palette, too", async () => {
  location.hash = "";
  await draw({ conversation: "c1" });
  await click("Session menu");
  const offered = [...document.querySelectorAll('[role="menuitem"]:not([aria-disabled="true"])')];
  const named = commandGroups.get().flatMap((group) => group.commands);
  expect(offered.length).toBeGreaterThan(10);
  for (const item of offered) expect(named.map((c) => c.label).some((label) => item.textContent?.startsWith(label))).toBe(true);
  act(() => named.find((c) => c.id === "session timeline")?.run());
  expect(location.hash).toBe("#/s/s1/timeline");
});

test("a rate limit can be waited for, and a hold needs admin", async () => {
  hub.api.on("release-session", () => aSession());
  const hold = { id: "h1", kind: "rate_limit", reason: "the limit is reached", since: "", until: "2030-01-01T00:00:00Z" };
  await draw({ holds: [hold] });
  await click("Continue after the reset");
  expect(hub.api.of("release-session")).toMatchObject([{ body: { hold: "h1", at_reset: true } }]);
  hub.scopes.delete("admin");
  await draw({ holds: [{ ...hold, id: "h2" }] });
  await click("Continue");
  expect(hub.api.of("release-session")).toHaveLength(1);
});

test.each([
  ["usd", "2,5", { usd: 2.5 }],
  ["turns", "20", { turns: 20 }],
  ["wall", "60", { seconds: 60 }],
  ["turns", "", {}],
  ["turns", "1.5", undefined],
  ["usd", "-1", undefined],
  ["usd", "much", undefined],
])("what is granted of %s for %j", (unit, text, granted) => {
  expect(grant(unit, text)).toEqual(granted);
});

const asked = { kind: "prompt", id: "p", uuid: "u-prompt", blocks: [{ type: "text", text: "do it" }] } as const;
const said = { kind: "text", id: "t", uuid: "u-said", text: "done" } as const;

test("a fork before a prompt ends with what was said before it, and begins with its text", async () => {
  hub.api.on("fork-session", () => aSession({ id: "s2" }));
  const session = await draw({ conversation: "c" });
  session.put(said, asked);
  await act(async () => openFork(session, "u-prompt"));
  await click("Fork");
  expect(hub.api.of("fork-session")).toMatchObject([{ body: { at: "u-said", prompt: "do it" } }]);
});

test("a fork of the whole conversation names no message", async () => {
  hub.api.on("fork-session", () => aSession({ id: "s2" }));
  const session = await draw({ conversation: "c" });
  await act(async () => openFork(session));
  await click("Fork");
  expect(hub.api.of("fork-session")[0]?.body).toEqual({ client_id: expect.any(String) });
});

test("files are restored only after what would change was seen", async () => {
  hub.api.on("rewind-session", () => ({ can_rewind: true, files_changed: ["a.md"], insertions: 1, deletions: 2 }));
  const session = await draw();
  await act(async () => openRewind(session, "u-prompt"));
  expect(hub.api.of("rewind-session").map((c) => c.body)).toEqual([{ user_message_id: "u-prompt", dry_run: true }]);
  expect(document.body.textContent).toContain("a.md");
  await click("Restore files");
  expect(hub.api.of("rewind-session")[1]?.body).toEqual({ user_message_id: "u-prompt" });
});

test("files that cannot be restored are not, and the agent's reason is shown", async () => {
  hub.api.on("rewind-session", () => ({ can_rewind: false, error: "no checkpoint" }));
  const session = await draw();
  await act(async () => openRewind(session, "u-prompt"));
  expect(document.body.textContent).toContain("no checkpoint");
  await click("Restore files");
  expect(hub.api.of("rewind-session")).toHaveLength(1);
});

test("a rule that allows needs admin", async () => {
  hub.scopes.delete("admin");
  hub.api.on("add-rule", () => ({ id: "r", decision: "allow", rule: "Bash", created: "" }));
  const session = await draw();
  await act(async () => openPanel(session, "rules"));
  await click("Add rule");
  expect(hub.api.of("add-rule")).toEqual([]);
});

test("a session of odd shapes is drawn all the same", async () => {
  await draw({
    title: "x".repeat(10_000),
    initialize: [1],
    init: "odd",
    context: { percent: Number.NaN },
    cost: { usd: 1, turns: 1, ms: 1, models: [3] },
  });
  expect(place.querySelector("h1")?.textContent?.length).toBeLessThan(300);
});

test("a limit that is near is told until its window ends, and all of them with the context", async () => {
  hub.api.on("get-context", () => ({ response: {} }));
  const later = Math.round(Date.now() / 1000) + 3600;
  const five_hour = { status: "allowed_warning", utilization: 0.91, resetsAt: later };
  await draw({ rate_limits: { five_hour: { ...five_hour, resetsAt: later - 7200 } } });
  expect(place.textContent).not.toContain("limit");
  await draw({ rate_limits: { five_hour } });
  await click("limit 91%");
  const limits = document.querySelector('[aria-label="Account limits"]');
  expect(limits?.textContent).toMatch(/Five hours until .*91 %nearly used up/);
});

test("a panel that was open when the session was left is not there when it is looked at again", async () => {
  const session = await draw();
  await act(async () => openPanel(session, "stop"));
  expect(document.querySelector("[role=alertdialog]")).not.toBeNull();
  await act(async () => root.render(null));
  await draw();
  expect(document.querySelector("[role=alertdialog]")).toBeNull();
});

test("servers that were changed while they were being read are read again", async () => {
  const answers: ((answer: { response: Json }) => void)[] = [];
  hub.api.on("get-mcp", () => new Promise((done) => answers.push(done)));
  hub.api.on("set-mcp", () => ({ response: { added: ["notes"] } }));
  const session = await draw();
  await act(async () => openPanel(session, "mcp"));
  await act(async () => secretDraft("mcp.s1").set('{"notes": {"command": "x", "env": {"KEY": "secret"}}}'));
  await click("Apply");
  await act(async () => answers[1]?.({ response: { mcpServers: [{ name: "notes", status: "connected" }] } }));
  await act(async () => answers[0]?.({ response: { mcpServers: [] } }));
  expect(document.body.textContent).toContain("Connected");
  // What may hold keys is written nowhere.
  expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain("secret");
});

test("a sandbox says what it means, and aloud when it is asked for and not enforced", async () => {
  const meaning = () => document.querySelector("section[role=dialog]")?.textContent ?? "";
  await draw({ sandbox: undefined });
  expect(place.textContent).not.toContain("andbox");
  await draw({
    sandbox: {
      mode: "strict",
      enforcer: "bubblewrap",
      network: "listed",
      auto_allow: true,
      hidden: 12,
      read_only: 1,
      limits: ["files that appear later are not hidden"],
    },
  });
  await click("Sandbox: Strict enforced by bubblewrap");
  expect(meaning()).toContain("Strict sandbox");
  expect(meaning()).toContain("12 paths");
  expect(meaning()).toMatch(/Only the working folder.*but 1 path that rules protect/);
  expect(meaning()).toContain("new hosts are asked about");
  expect(meaning()).toContain("Allowed without asking");
  expect(meaning()).toContain("Files that appear later are not hidden");
  await draw({ sandbox: { mode: "deny-only", enforcer: "none", reason: "bubblewrap isn't installed \u202e" } });
  expect(button("Sandbox deny only: Not enforced: bubblewrap isn't installed ⟨U+202E⟩")).toBeDefined();
  expect(meaning()).toContain("Sandbox not enforced");
  expect(meaning()).toContain("nothing on the agent’s machine enforces it");
  expect(meaning()).not.toContain("Hidden");
  await draw({ sandbox: { mode: "off", enforcer: "none" } });
  expect(button("Sandbox off")).toBeDefined();
  expect(meaning()).not.toContain("not enforced");
});

test("a session is resumed with another sandbox, and with its own options otherwise", async () => {
  hub.api.on("resume-session", () => aSession());
  const session = await draw({
    state: "ended",
    linked: false,
    options: { model: "opus", sandbox: "strict", sandbox_auto_allow: true, effort: "high" },
  });
  await act(async () => openPanel(session, "resume"));
  const dialog = document.querySelector("[role=dialog]");
  const select = [...(dialog?.querySelectorAll("button") ?? [])].find((b) => b.textContent?.includes("Strict"));
  await act(async () => select?.click());
  const option = [...document.querySelectorAll<HTMLElement>("[role=option]")].find((o) =>
    o.textContent?.startsWith("Hub default"),
  );
  await act(async () => option?.click());
  await act(async () => {
    const all = [...document.querySelectorAll<HTMLButtonElement>("[role=dialog] button")];
    all.find((b) => b.textContent === "Resume")?.click();
  });
  expect(hub.api.of("resume-session").map((c) => c.body)).toEqual([
    { client_id: expect.any(String), options: { model: "opus", permission_mode: "default", effort: "high" } },
  ]);
});

test("the machine is named beside the folder, in what is lost with it, and where a terminal goes on", async () => {
  await draw({ dir: "/src/shop" });
  expect(place.textContent).not.toContain("Machine");
  await draw({ dir: "/src/shop", node: "gpu-1", state: "offline", conversation: "c1" });
  expect(place.querySelector('a[href="#/machines"]')?.textContent).toBe("Machine gpu-1");
  expect(place.textContent).toContain("Connection to the agent on the machine gpu-1 lost.");
  const session = hub.open("s1");
  await act(async () => openPanel(session, "handback"));
  expect(document.querySelector("[role=dialog]")?.textContent).toContain("Run it on the machine gpu-1.");
});
