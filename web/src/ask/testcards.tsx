// What the tests of cards share: a page with a simulated hub for each test, and what a person does with the cards on it.
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { Answer, Question } from "../api/types";
import { aQuestion, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { Confirmations } from "../ui/dialogs";
import { cardId } from "./card";
import { later } from "./later";

export let hub: FakeHub;
export let place: HTMLElement;
let root: Root;

/** Gives each test of a file a page and a hub of its own, and a clock that `wait` moves. */
export function onCards(): void {
  beforeEach(() => {
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
    vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
    vi.stubGlobal("CSS", { escape: (text: string) => text }); // jsdom has none, and dialogs want it
    Element.prototype.scrollIntoView = () => {};
    sessionStorage.clear();
    later.set(new Set());
    hub = fakeHub();
    hub.api.on("answer-question", ({ body }) => ({ ...aQuestion(), state: "answered", by: "me", answer: body as Answer }));
    place = document.createElement("div");
    document.body.append(place);
    root = createRoot(place);
  });

  afterEach(() => {
    act(() => root.unmount());
    place.remove();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
}

let ids = 0;
/** A question of its own for each test, since what is typed about one is kept. */
export const ask = (parts: Partial<Question> = {}): Question => aQuestion({ id: `card${ids++}`, ...parts });

export async function show(node: React.ReactNode) {
  await act(async () =>
    root.render(
      <HubContext value={hub}>
        {node}
        <Confirmations />
      </HubContext>,
    ),
  );
}
export const wait = (ms: number) => act(async () => vi.advanceTimersByTime(ms));
export const button = (name: string) => {
  const found = [...place.querySelectorAll("button")].find((b) => b.textContent?.startsWith(name));
  if (!found) throw new Error(`there is no button ${name}: ${place.textContent}`);
  return found;
};
export const click = (element: HTMLElement) => act(async () => element.click());
export const card = (q: Question) => {
  const found = document.getElementById(cardId(q.id));
  if (!found) throw new Error(`there is no card of ${q.id}`);
  return found;
};
export async function press(element: Element, key: string, more: KeyboardEventInit = {}) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  await act(async () => {
    element.dispatchEvent(event);
  });
  return event;
}
export async function type(field: HTMLTextAreaElement | HTMLInputElement, text: string) {
  await act(async () => {
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set;
    set?.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
export const field = () => {
  const found = place.querySelector("textarea");
  if (!found) throw new Error("there is no field");
  return found;
};
/** What was answered, without the ids of the answers. */
export const answers = () =>
  hub.api.of("answer-question").map((c) => {
    const { client_id, ...rest } = c.body as Answer;
    expect(client_id).toMatch(/^[0-9a-f-]{36}$/);
    return { to: c.params?.id, ...rest };
  });
