// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Session } from "../api/types";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { Confirmations } from "../ui/dialogs";
import { ModeChoice, ModelChoice } from "./Choices";

let hub: FakeHub;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("CSS", { escape: (text: string) => text }); // jsdom has none, and menus want it
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {}, removeEventListener: () => {} }));
  hub = fakeHub();
  hub.api.on("update-session", () => aSession());
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(async () => {
  await act(async () => root.unmount());
  place.remove();
  vi.unstubAllGlobals();
});

async function draw(parts: Partial<Session>) {
  const session = hub.open("s1");
  await act(async () => {
    session.snapshot.set({ session: aSession(parts) });
    root.render(
      <HubContext value={hub}>
        <ModeChoice session={session} />
        <ModelChoice session={session} />
        <Confirmations />
      </HubContext>,
    );
  });
}

async function click(role: string, name: RegExp) {
  const found = [...document.querySelectorAll<HTMLElement>(role)].find((e) =>
    name.test(e.getAttribute("aria-label") ?? e.textContent ?? ""),
  );
  if (!found) throw new Error(`there is no ${role} ${name}`);
  await act(async () => found.click());
}

test("another mode is chosen at once", async () => {
  await draw({ permission_mode: "default" });
  await click("button", /Permission mode: Default/);
  await click("[role=menuitem]", /^Plan mode/);
  expect(hub.api.of("update-session")).toMatchObject([{ body: { permission_mode: "plan" } }]);
});

test("modes have the names of Claude Code, from the safest to the most dangerous one, which is marked", async () => {
  await draw({ permission_mode: "auto" });
  await click("button", /Permission mode: Auto/);
  const entries = [...document.querySelectorAll("[role=menuitem]")].map((e) => e.textContent ?? "");
  const names = ["Plan mode", "Don't ask", "Default", "Accept edits", "Auto", "Bypass permissions"];
  expect(entries.map((entry, i) => entry.startsWith(names[i] ?? "?"))).toEqual(names.map(() => true));
  expect(entries.at(-1)).toContain("Dangerous");
  await click("[role=menuitem]", /^Accept edits/);
  expect(hub.api.of("update-session")).toMatchObject([{ body: { permission_mode: "acceptEdits" } }]);
});

test("the mode that asks nothing is refused to a session that was not started for it", async () => {
  await draw({ permission_mode: "default" });
  await click("button", /Permission mode/);
  expect(document.querySelector("[role=menu]")?.textContent).toContain("Only for sessions that were started in this mode");
  await click("[role=menuitem]", /^Bypass permissions/);
  expect(document.querySelector("[role=alertdialog]")).toBeNull();
  expect(hub.api.of("update-session")).toEqual([]);
});

test("the mode that asks nothing is set only after a warning", async () => {
  await draw({ permission_mode: "default", options: { allow_bypass: true } });
  await click("button", /Permission mode/);
  await click("[role=menuitem]", /^Bypass permissions/);
  expect(hub.api.of("update-session")).toEqual([]);
  await click("button", /^Bypass permissions$/);
  expect(hub.api.of("update-session")).toMatchObject([{ body: { permission_mode: "bypassPermissions" } }]);
});

test("without the scope approve the mode is shown and cannot be changed", async () => {
  hub.scopes.delete("approve");
  await draw({ permission_mode: "plan" });
  await click("button", /Permission mode: Plan/);
  expect(document.querySelector("[role=menu]")).toBeNull();
});

test("the default model is told by the hub's empty name, and thinking by its tokens", async () => {
  await draw({
    model: "claude-opus-4-1",
    initialize: {
      models: [
        { value: "default", displayName: "Default" },
        { value: "haiku", displayName: "Haiku" },
      ],
    },
  });
  await click("button", /Model: opus-4-1/);
  await click("[role=menuitem]", /^Default/);
  await click("button", /Model: opus-4-1/);
  await click("[role=menuitem]", /^Off/);
  expect(hub.api.of("update-session").map((c) => c.body)).toEqual([{ model: "" }, { max_thinking_tokens: 0 }]);
});
