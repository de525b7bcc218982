// Draws components in tests, and does to them what people do.

import { act, createElement, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { type Hub, HubContext } from "../store/hub";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
// React Aria escapes ids of its own making, in which nothing is to be escaped; jsdom has no CSS.escape.
if (typeof CSS === "undefined") Object.assign(globalThis, { CSS: { escape: (text: string) => text } });

let root: Root | undefined;

/** Draws something with a hub around it, in the place of what was drawn before. */
export async function draw(hub: Hub, what: ReactNode): Promise<void> {
  if (!root) {
    const host = document.createElement("div");
    document.body.append(host);
    root = createRoot(host);
  }
  await act(async () => root?.render(createElement(HubContext, { value: hub }, what)));
}

/** Takes away what was drawn. */
export async function erase(): Promise<void> {
  await act(async () => root?.unmount());
  root = undefined;
  document.body.replaceChildren();
}

/** The element with a role and a name; the whole page is searched, for dialogs lie outside of what was drawn. */
export function find(selector: string, name: string | RegExp): HTMLElement {
  const fits = (e: HTMLElement): boolean => {
    const label = labelOf(e);
    return typeof name === "string" ? label === name : name.test(label);
  };
  const found = [...document.querySelectorAll<HTMLElement>(selector)].find(fits);
  if (!found) throw new Error(`no ${selector} is called ${name}; there is: ${document.body.textContent}`);
  return found;
}

function labelOf(e: HTMLElement): string {
  const by = e.getAttribute("aria-labelledby")?.split(" ") ?? [];
  const label = by.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  return (e.getAttribute("aria-label") ?? (label || e.textContent) ?? "").trim();
}

export async function press(element: HTMLElement): Promise<void> {
  await act(async () => element.click());
}

/** Types a text into a field, in the place of what is there. */
export async function type(element: HTMLElement, text: string): Promise<void> {
  const prototype = element instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  await act(async () => {
    // React overrides the setter of the element itself, and would take the change for its own.
    Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(element, text);
    element.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
