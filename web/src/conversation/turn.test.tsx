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

it("sends the prompt of a failed turn again, as it was", async () => {
  const image: Block = { type: "image", mediaType: "image/png", data: "AAAA" };
  const note: Block = { type: "document", title: "a.txt", mediaType: "text/plain", text: "one" };
  hub
    .open("s1")
    .put(prompt("p0", [said("Before")]), turn("t0"), prompt("p1", [image, note, said("Go")]), turn("t1", { error: "No." }));
  show("t1");
  expect(host.textContent).toContain("Turn failed");
  expect(host.textContent).toContain("No.");
  await act(async () => retry()?.click());
  expect(hub.api.of("send-message")).toMatchObject([
    {
      params: { id: "s1" },
      body: {
        mode: "queue",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "document", title: "a.txt", source: { type: "text", media_type: "text/plain", data: "one" } },
          { type: "text", text: "Go" },
        ],
      },
    },
  ]);
});

it("offers that for the last turn alone, while nothing goes on, to whoever may send", () => {
  const session = hub.open("s1");
  session.put(prompt("p1", [said("Go")]), turn("t1"));
  show("t1");
  expect(retry()).toBeDefined();
  act(() => session.snapshot.set({ session: aSession({ state: "running" }) }));
  expect(retry()).toBeUndefined();
  act(() => session.snapshot.set({ session: aSession({ state: "idle" }) }));
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
