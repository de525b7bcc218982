// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import type { Block, Prompt, Turn } from "../talk/item";
import { Row } from "./Row";
import { reason } from "./Turn";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let root: Root;
let host: HTMLElement;
let hub: FakeHub;

beforeEach(() => {
  hub = fakeHub();
  hub.api.on("send-message", () => ({ id: "m1", state: "queued" }));
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});

afterEach(() => {
  act(() => root.unmount());
  host.remove();
});

const prompt = (id: string, blocks: readonly Block[], more: Partial<Prompt> = {}): Prompt => ({
  kind: "prompt",
  id,
  blocks,
  ...more,
});
const turn = (id: string, more: Partial<Turn> = {}): Turn => ({
  kind: "turn",
  id,
  subtype: "success",
  failed: true,
  interrupted: false,
  ...more,
});
const said = (text: string): Block => ({ type: "text", text });

function show(id: string): void {
  act(() =>
    root.render(
      <HubContext value={hub}>
        <Row session={hub.open("s1")} id={id} place={1} />
      </HubContext>,
    ),
  );
}

const retry = () => [...host.querySelectorAll("button")].find((button) => button.textContent === "Retry");

/** What the hub says of the session. */
const known = (more: Parameters<typeof aSession>[0]) => hub.open("s1").snapshot.set({ session: aSession(more) });

it("has the hub send the prompt of a failed turn again", async () => {
  hub.open("s1").put(prompt("p0", [said("Before")]), turn("t0"), prompt("p1", [said("Go")]), turn("t1", { error: "No." }));
  known({ state: "idle", failed: true });
  show("t1");
  expect(host.textContent).toContain("Turn failed");
  expect(host.textContent).toContain("No.");
  await act(async () => retry()?.click());
  expect(hub.api.of("retry-session").map((call) => call.params)).toEqual([{ id: "s1" }]);
});

it("offers that for the last turn alone, while nothing goes on, to a device that may send", () => {
  const session = hub.open("s1");
  session.put(prompt("p1", [said("Go")]), turn("t1"));
  known({ state: "idle", failed: true });
  show("t1");
  expect(retry()).toBeDefined();
  act(() => known({ state: "running" }));
  expect(retry()).toBeUndefined();
  act(() => known({ state: "idle", failed: true }));
  expect(retry()).toBeDefined();
  act(() => session.put(prompt("p2", [said("Go on")])));
  expect(retry()).toBeUndefined();
  session.put(turn("t2", { interrupted: true }));
  show("t2");
  expect(retry()).toBeUndefined();
  session.put(prompt("p3", [said("Go")]), turn("t3"));
  hub.scopes.delete("prompt");
  show("t3");
  expect(retry()).toBeUndefined();
});

it("says why a turn failed in plain words", () => {
  const json = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded \\"now\\""}}';
  expect(reason({ subtype: "success", error: `API Error: 529 ${json}` })).toBe(
    'The API answered with an error (529): Overloaded "now"',
  );
  expect(reason({ subtype: "success", error: "API Error: 500 Internal server error" })).toBe(
    "The API answered with an error (500): Internal server error",
  );
  expect(reason({ subtype: "success", error: "API Error: Connection error." })).toBe("Connection error.");
});

it("calls this device you, and others by their names", () => {
  const session = hub.open("s1");
  session.put(prompt("p1", [said("Go")], { by: hub.me() }), prompt("p2", [said("Go")], { by: "phone" }));
  show("p1");
  expect(host.querySelector("strong")?.textContent).toBe("You");
  show("p2");
  expect(host.querySelector("strong")?.textContent).toBe("phone");
  session.put(turn("t1", { interrupted: true, by: hub.me() }));
  show("t1");
  expect(host.textContent).toContain("Turn interrupted by you");
});
