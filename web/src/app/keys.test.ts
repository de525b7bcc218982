// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";
import { type KeyBinding, KeyMatcher, keyGroups, listenToKeys, strokeOf } from "./keys";

const bare = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test.each([
  [{ ...bare, key: "j" }, "j"],
  [{ ...bare, key: "G", shiftKey: true }, "G"],
  [{ ...bare, key: "?", shiftKey: true }, "?"],
  [{ ...bare, key: "k", ctrlKey: true }, "mod+k"],
  [{ ...bare, key: "K", ctrlKey: true, shiftKey: true }, "mod+shift+k"],
  [{ ...bare, key: "Tab", shiftKey: true }, "shift+tab"],
  [{ ...bare, key: "Enter", ctrlKey: true }, "mod+enter"],
  [{ ...bare, key: " " }, "space"],
  [{ ...bare, key: ".", ctrlKey: true }, "mod+."],
])("%j is called %s", (event, name) => {
  expect(strokeOf(event, false)).toBe(name);
});

test("on Apple's keyboards mod is the command key", () => {
  expect(strokeOf({ ...bare, key: "k", metaKey: true }, true)).toBe("mod+k");
  expect(strokeOf({ ...bare, key: "k", ctrlKey: true }, true)).toBe("ctrl+k");
});

function binding(keys: string, more: Partial<KeyBinding> = {}): KeyBinding {
  return { keys, label: keys, run: vi.fn(), ...more };
}

test("two keys after another are one binding, unless too long apart", () => {
  const matcher = new KeyMatcher();
  const gi = binding("g i");
  const i = binding("i");
  const groups = [{ name: "a", keys: [gi, i] }];
  expect(matcher.match("g", groups, false, 0)).toEqual({ binding: undefined, more: true });
  expect(matcher.match("i", groups, false, 500).binding).toBe(gi);
  matcher.match("g", groups, false, 1000);
  expect(matcher.match("i", groups, false, 2500).binding).toBe(i);
});

test("a second key that completes nothing counts for itself", () => {
  const matcher = new KeyMatcher();
  const j = binding("j");
  const groups = [{ name: "a", keys: [binding("g i"), j] }];
  matcher.match("g", groups, false, 0);
  expect(matcher.match("j", groups, false, 10).binding).toBe(j);
});

test("what was registered last wins, and what does not work now is passed over", () => {
  const matcher = new KeyMatcher();
  const first = binding("j");
  const last = binding("j");
  expect(
    matcher.match(
      "j",
      [
        { name: "a", keys: [first] },
        { name: "b", keys: [last] },
      ],
      false,
      0,
    ).binding,
  ).toBe(last);
  const off = binding("j", { when: false });
  expect(
    matcher.match(
      "j",
      [
        { name: "a", keys: [first] },
        { name: "b", keys: [off] },
      ],
      false,
      0,
    ).binding,
  ).toBe(first);
});

let stop: (() => void) | undefined;

afterEach(() => {
  stop?.();
  keyGroups.set([]);
  document.body.replaceChildren();
});

function press(element: Element, key: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true, ...more });
  element.dispatchEvent(event);
  return event;
}

function add<K extends keyof HTMLElementTagNameMap>(
  parent: Element,
  name: K,
  attributes: Record<string, string> = {},
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

test("keys are left to those who type, except those for them", () => {
  const j = binding("j");
  const palette = binding("mod+k", { inField: true });
  keyGroups.set([{ name: "a", keys: [j, palette] }]);
  stop = listenToKeys(window);
  const field = add(document.body, "textarea");
  expect(press(field, "j").defaultPrevented).toBe(false);
  expect(j.run).not.toHaveBeenCalled();
  press(field, "k", { ctrlKey: true });
  expect(palette.run).toHaveBeenCalledOnce();
  press(document.body, "j");
  expect(j.run).toHaveBeenCalledOnce();
});

test("keys of the page do nothing in a dialog, except in content that asks for them", () => {
  const j = binding("j");
  keyGroups.set([{ name: "a", keys: [j] }]);
  stop = listenToKeys(window);
  const dialog = add(document.body, "div", { role: "dialog" });
  press(add(dialog, "button"), "j");
  expect(j.run).not.toHaveBeenCalled();
  press(add(add(dialog, "div", { "data-keys": "" }), "button"), "j");
  expect(j.run).toHaveBeenCalledOnce();
});

test("enter on a button is the button's, and what somebody has taken is not taken again", () => {
  const enter = binding("enter");
  const j = binding("j");
  keyGroups.set([{ name: "a", keys: [enter, j] }]);
  stop = listenToKeys(window);
  const button = add(document.body, "button");
  press(button, "Enter");
  expect(enter.run).not.toHaveBeenCalled();
  button.addEventListener("keydown", (e) => e.preventDefault());
  press(button, "j");
  expect(j.run).not.toHaveBeenCalled();
});

test("escape leaves a field: to the card around it, whose keys count then, else to the page", () => {
  const interrupt = binding("escape");
  keyGroups.set([{ name: "a", keys: [interrupt] }]);
  stop = listenToKeys(window);
  const field = add(document.body, "textarea");
  field.focus();
  expect(press(field, "Escape").defaultPrevented).toBe(true);
  expect(document.activeElement).toBe(document.body);
  expect(interrupt.run).not.toHaveBeenCalled();
  const card = add(document.body, "article", { tabindex: "-1", "data-takes-keys": "" });
  const within = add(card, "input");
  within.focus();
  press(within, "Escape");
  expect(document.activeElement).toBe(card);
  // What a browser does in a search field comes first.
  const search = add(document.body, "input", { type: "search" });
  search.value = "dash";
  search.focus();
  expect(press(search, "Escape").defaultPrevented).toBe(false);
  expect(document.activeElement).toBe(search);
  search.value = "";
  press(search, "Escape");
  expect(document.activeElement).toBe(document.body);
});
