// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Session } from "../api/types";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { Confirmations } from "../ui/confirm";
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
  await click("button", /Permission mode: Approve/);
  await click("[role=menuitem]", /^Plan/);
  expect(hub.api.of("update-session")).toMatchObject([{ body: { permission_mode: "plan" } }]);
});

test("the mode that asks nothing is refused to a session that was not created for it", async () => {
  await draw({ permission_mode: "default" });
  await click("button", /Permission mode/);
  await click("[role=menuitem]", /^Auto/);
  expect(document.querySelector("[role=alertdialog]")).toBeNull();
  expect(hub.api.of("update-session")).toEqual([]);
});

test("the mode that asks nothing is set only after a warning", async () => {
  await draw({ permission_mode: "default", options: { allow_bypass: true } });
  await click("button", /Permission mode/);
  await click("[role=menuitem]", /^Auto/);
  expect(hub.api.of("update-session")).toEqual([]);
  await click("button", /^Approve everything$/);
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
