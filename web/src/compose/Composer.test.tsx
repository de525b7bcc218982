// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import { aQuestion, aSession, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { at } from "../talk/json";
import { Confirmations } from "../ui/dialogs";
import { Composer } from "./Composer";
import { attached, editing, written } from "./kept";

let hub: FakeHub;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  vi.stubGlobal("CSS", { escape: (text: string) => text }); // jsdom has none, and dialogs want it
  // jsdom has no layout, and so nothing to scroll.
  Element.prototype.scrollIntoView = () => {};
  localStorage.clear();
  for (const id of ["s1", "s2"]) {
    written(id).set("");
    editing(id).set("");
    attached(id).set([]);
  }
  hub = fakeHub();
  hub.api.on("send-message", ({ body }) => ({ id: "m1", state: "queued", ...(body?.text ? { text: body.text } : {}) }));
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
  vi.unstubAllGlobals();
});

async function draw(id = "s1") {
  await act(async () =>
    root.render(
      <HubContext value={hub}>
        <Composer session={hub.open(id)} />
        <Confirmations />
      </HubContext>,
    ),
  );
}

function field(): HTMLTextAreaElement {
  const found = place.querySelector("textarea");
  if (!found) throw new Error("there is no field");
  return found;
}

async function press(key: string, more: KeyboardEventInit = {}) {
  await act(async () => {
    field().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  });
}

async function type(text: string, id = "s1") {
  await act(async () => {
    field().focus();
    written(id).set(text);
  });
}

function button(name: string): HTMLButtonElement | undefined {
  return [...place.querySelectorAll("button")].find((b) => (b.getAttribute("aria-label") ?? b.textContent) === name);
}

/** The client ids of the messages that were sent. */
function clientIds(): unknown[] {
  return hub.api.of("send-message").map((c) => at(c.body, "client_id"));
}

test("enter sends what was written and empties the field", async () => {
  await draw();
  await type("hello");
  await press("Enter");
  expect(hub.api.of("send-message")).toMatchObject([
    { params: { id: "s1" }, body: { text: "hello", mode: "queue", client_id: expect.any(String) } },
  ]);
  expect(field().value).toBe("");
});

test("shift+enter and a word that is being composed send nothing", async () => {
  await draw();
  await type("hello");
  await press("Enter", { shiftKey: true });
  await press("Enter", { isComposing: true });
  await press("Enter", { keyCode: 229 });
  expect(hub.api.of("send-message")).toEqual([]);
});

test("what could not be sent stays, and is the same message the second time", async () => {
  await draw();
  hub.api.on("send-message", () => {
    throw new ApiError({ status: 0, code: "unreachable", title: "The hub cannot be reached" });
  });
  await type("hello");
  await press("Enter");
  expect(field().value).toBe("hello");
  expect(place.textContent).toContain("The hub cannot be reached");
  hub.api.on("send-message", () => ({ id: "m1", state: "queued" }));
  await press("Enter");
  const [first, second] = clientIds();
  expect(second).toBe(first);
  expect(field().value).toBe("");
  await type("hello");
  await press("Enter");
  expect(clientIds()[2]).not.toBe(first);
});

test("while a turn runs, enter queues and mod+enter steers", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ state: "running" }) });
  await draw();
  await type("one");
  expect(button("Queue")).toBeDefined();
  expect(button("Steer now")).toBeDefined();
  await press("Enter");
  await type("two");
  await press("Enter", { ctrlKey: true });
  expect(hub.api.of("send-message").map((c) => at(c.body, "mode"))).toEqual(["queue", "steer"]);
});

test("mod+enter just sends when no turn runs", async () => {
  await draw();
  await type("one");
  await press("Enter", { ctrlKey: true });
  expect(hub.api.of("send-message")).toMatchObject([{ body: { mode: "queue" } }]);
});

test("escape interrupts only when it is pressed twice", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ state: "running" }) });
  hub.api.on("interrupt-session", () => ({ was: true, session: aSession() }));
  await draw();
  await press("Escape");
  expect(hub.api.of("interrupt-session")).toEqual([]);
  await press("Escape");
  expect(hub.api.of("interrupt-session")).toHaveLength(1);
});

test("escape leaves the field, also while a turn runs", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ state: "running" }) });
  await draw();
  await type("hello");
  expect(document.activeElement).toBe(field());
  await press("Escape");
  expect(document.activeElement).toBe(document.body);
  expect(field().value).toBe("hello");
});

test("an interrupt asks first if an open question would be lost by it", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ state: "requires_action" }) });
  hub.ask(aQuestion(), aQuestion({ id: "elsewhere", session: "s2" }));
  hub.api.on("interrupt-session", () => ({ was: true, session: aSession() }));
  await draw();
  const dialog = () => document.querySelector('[role="alertdialog"]');
  const choose = (name: string) =>
    act(async () => [...(dialog()?.querySelectorAll("button") ?? [])].find((b) => b.textContent === name)?.click());
  await press("Escape");
  await press("Escape");
  expect(dialog()?.textContent).toContain("This cancels the open question.");
  expect(hub.api.of("interrupt-session")).toEqual([]);
  await choose("Cancel");
  expect(hub.api.of("interrupt-session")).toEqual([]);
  await press("Escape");
  await press("Escape");
  await choose("Interrupt");
  expect(hub.api.of("interrupt-session")).toHaveLength(1);
});

test("without the scope prompt nothing can be written", async () => {
  hub.scopes.delete("prompt");
  await draw();
  await type("hello");
  await press("Enter");
  expect(field().readOnly).toBe(true);
  expect(hub.api.of("send-message")).toEqual([]);
});

test("while the hub is away nothing is sent, and what is written is kept", async () => {
  hub.link.set({ status: "offline", since: 0 });
  await draw();
  await type("hello");
  await press("Enter");
  expect(hub.api.of("send-message")).toEqual([]);
  expect(field().value).toBe("hello");
});

test("each session has a draft of its own", async () => {
  await draw("s1");
  await type("for one", "s1");
  await draw("s2");
  expect(field().value).toBe("");
  await draw("s1");
  expect(field().value).toBe("for one");
});

test("up recalls what was sent, down comes back to what was being written", async () => {
  await draw();
  await type("sent before");
  await press("Enter");
  await type("draft");
  await press("ArrowUp");
  expect(field().value).toBe("sent before");
  await press("ArrowDown");
  expect(field().value).toBe("draft");
});

test("an attachment is sent as a block before the text, and a message without text is one", async () => {
  await draw();
  const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };
  await act(async () => attached("s1").set([{ id: "a", name: "a.png", mediaType: "image/png", size: 1, block }]));
  await press("Enter");
  expect(hub.api.of("send-message")).toMatchObject([{ body: { content: [block] } }]);
  expect(attached("s1").get()).toEqual([]);
});

test("a command of the console opens its panel and is not sent; the CLI's own are sent", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ initialize: { commands: [{ name: "context", description: "" }] } }) });
  await draw();
  await type("/rules");
  await press("Enter");
  expect(hub.api.of("send-message")).toEqual([]);
  await type("/context");
  await press("Enter");
  expect(hub.api.of("send-message")).toMatchObject([{ body: { text: "/context" } }]);
});

test("a queued message is taken back into the field by its id", async () => {
  hub
    .open("s1")
    .snapshot.set({ session: aSession({ state: "running", messages: [{ id: "m7", state: "queued", text: "wait for me" }] }) });
  hub.api.on("take-back-message", () => ({ id: "m7", state: "taken_back" }));
  await draw();
  expect(place.textContent).toContain("wait for me");
  await act(async () => button("Unqueue")?.click());
  expect(hub.api.of("take-back-message")).toMatchObject([{ params: { id: "s1", client_id: "m7" } }]);
  expect(field().value).toBe("wait for me");
});

test("a queued message that cannot be steered any more is not lost", async () => {
  hub
    .open("s1")
    .snapshot.set({ session: aSession({ state: "running", messages: [{ id: "m7", state: "queued", text: "wait for me" }] }) });
  hub.api.on("take-back-message", () => ({ id: "m7", state: "taken_back" }));
  hub.api.on("send-message", () => {
    throw new ApiError({ status: 409, code: "offline", title: "gone" });
  });
  await draw();
  await act(async () => button("Steer now")?.click());
  expect(field().value).toBe("wait for me");
  expect(place.textContent).toContain("Gone");
});

test("what is written and attached while a message is on its way stays", async () => {
  await draw();
  const file = (id: string) => ({ id, name: id, mediaType: "text/plain", size: 1, block: { type: "document", title: id } });
  await act(async () => attached("s1").set([file("a")]));
  let answer = (_: { id: string; state: string }) => {};
  hub.api.on("send-message", () => new Promise((done) => (answer = done)));
  await type("hello");
  await press("Enter");
  await type("hello\n\nand more");
  await act(async () => attached("s1").set([...attached("s1").get(), file("b")]));
  await act(async () => answer({ id: "m1", state: "queued" }));
  expect(field().value).toBe("and more");
  expect(
    attached("s1")
      .get()
      .map((a) => a.id),
  ).toEqual(["b"]);
});

test("a key that is held down neither sends nor interrupts", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ state: "running" }) });
  await draw();
  await type("hello");
  await press("Enter", { repeat: true });
  await press("Escape");
  await press("Escape", { repeat: true });
  await press("Escape", { repeat: true });
  expect(hub.api.calls).toEqual([]);
});

test("going back by shift+tab never changes what is permitted; a key of its own does", async () => {
  hub.open("s1").snapshot.set({ session: aSession({ permission_mode: "default" }) });
  hub.api.on("update-session", () => aSession());
  await draw();
  await type("half a sentence");
  await press("Tab", { shiftKey: true });
  expect(hub.api.calls).toEqual([]);
  await press("µ", { code: "KeyM", altKey: true }); // as an Apple keyboard writes it
  expect(hub.api.of("update-session")).toMatchObject([{ body: { permission_mode: "acceptEdits" } }]);
  expect(field().value).toBe("half a sentence");
});

function waits(text: string) {
  return { session: aSession({ state: "running", messages: [{ id: "m7", state: "queued", text }] }) };
}

async function edit(text: string) {
  await act(async () => button("Edit")?.click());
  const area = place.querySelector<HTMLTextAreaElement>("ol textarea");
  if (!area) throw new Error("there is nothing to edit in");
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(area, text);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

test("a change to a queued message that the agent gets first is put into the field", async () => {
  const { snapshot } = hub.open("s1");
  snapshot.set(waits("old"));
  await draw();
  await edit("new");
  await act(async () => snapshot.set({ session: aSession({ messages: [{ id: "m7", state: "sent", text: "old" }] }) }));
  expect(written("s1").get()).toBe("new");
  expect(editing("s1").get()).toBe("");
});

test("a change to a queued message outlives another session being looked at, and is saved once", async () => {
  hub.open("s1").snapshot.set(waits("old"));
  hub.api.on("edit-message", () => {
    // The agent gets it before the answer is here.
    hub.open("s1").snapshot.set({ session: aSession() });
    return { id: "m7", state: "queued" };
  });
  await draw("s1");
  await edit("new");
  await draw("s2");
  await draw("s1");
  await act(async () => button("Save")?.click());
  expect(hub.api.of("edit-message")).toMatchObject([{ params: { client_id: "m7" }, body: { text: "new" } }]);
  expect([written("s1").get(), editing("s1").get()]).toEqual(["", ""]);
});

test("whoever only opened a queued message to change it gets nothing back when it is sent", async () => {
  const { snapshot } = hub.open("s1");
  snapshot.set(waits("old"));
  await draw();
  await act(async () => button("Edit")?.click());
  await act(async () => snapshot.set({ session: aSession() }));
  expect([written("s1").get(), editing("s1").get()]).toEqual(["", ""]);
});
