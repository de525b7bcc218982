import { useEffect, useRef } from "react";
import { Cell } from "../store/readable";

export interface KeyBinding {
  /** "j", "G", "g i", "mod+k", "shift+tab", "?", "enter", "escape", "arrowdown". `mod` is the command key on Apple's, else control. */
  keys: string;
  /** What it does, for the list of keys; empty for one that is not listed. */
  label: string;
  run(e: KeyboardEvent): void;
  /** Whether it works now; without it, always. It stays in the list of keys. */
  when?: boolean;
  /** Whether it also works while somebody types. */
  inField?: boolean;
}

export interface KeyGroup {
  name: string;
  keys: readonly KeyBinding[];
}

/** The groups of keys that work at present; those registered last come first when two have the same keys. */
export const keyGroups = new Cell<readonly KeyGroup[]>([]);

/** Makes keys work while the component is there, and lists them under `group` in the help. */
export function useKeys(group: string, keys: readonly KeyBinding[]): void {
  const current = useRef(keys);
  current.current = keys;
  // The list is registered anew only when what is listed changes; the functions are always the latest.
  const listed = keys.map((key) => `${key.keys}\t${key.label}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `listed` stands for the keys
  useEffect(() => {
    const entry: KeyGroup = {
      name: group,
      get keys() {
        return current.current;
      },
    };
    keyGroups.set([...keyGroups.get(), entry]);
    return () => keyGroups.set(keyGroups.get().filter((other) => other !== entry));
  }, [group, listed]);
}

const apple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of the keys that an event is: "mod+k", "shift+tab", "?", "G". Shift is named only where it does not change the character. */
export function strokeOf(e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">, isApple = apple): string {
  const named = e.key.length > 1;
  const key = e.key === " " ? "space" : named ? e.key.toLowerCase() : e.key;
  const parts: string[] = [];
  if (isApple ? e.metaKey : e.ctrlKey) parts.push("mod");
  if (isApple && e.ctrlKey) parts.push("ctrl");
  if (!isApple && e.metaKey) parts.push("meta");
  if (e.altKey) parts.push("alt");
  const chord = parts.length > 0;
  if (e.shiftKey && (named || chord)) parts.push("shift");
  parts.push(chord ? key.toLowerCase() : key);
  return parts.join("+");
}

/** Whether somebody types into an element. */
export function isField(element: EventTarget | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  if (element.isContentEditable || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement) return true;
  if (!(element instanceof HTMLInputElement)) return false;
  return !["button", "checkbox", "radio", "range", "submit", "reset", "file", "color"].includes(element.type);
}

// How long the second key of "g i" may take.
const sequenceTime = 1000;

/** Finds the binding for one stroke after another. */
export class KeyMatcher {
  private pending = "";
  private pendingAt = 0;

  /** The bindings that the stroke completes, the latest registered first. `more` says that it begins a longer one. */
  match(
    stroke: string,
    groups: readonly KeyGroup[],
    field: boolean,
    now: number,
  ): { binding: KeyBinding | undefined; more: boolean } {
    const before = now - this.pendingAt < sequenceTime ? this.pending : "";
    this.pending = "";
    for (const wanted of before ? [`${before} ${stroke}`, stroke] : [stroke]) {
      let more = false;
      for (let at = groups.length - 1; at >= 0; at--) {
        for (const binding of groups[at]?.keys ?? []) {
          if (binding.when === false || (field && !binding.inField)) continue;
          if (binding.keys === wanted) return { binding, more: false };
          if (binding.keys.startsWith(`${wanted} `)) more = true;
        }
      }
      if (more) {
        this.pending = wanted;
        this.pendingAt = now;
        return { binding: undefined, more: true };
      }
    }
    return { binding: undefined, more: false };
  }
}

/** Listens to the keys of the page until the returned function is called. Once, by the shell. */
export function listenToKeys(target: Window): () => void {
  const matcher = new KeyMatcher();
  const onKey = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(e.key)) return;
    const element = e.composedPath()[0] ?? e.target;
    if (inOverlay(element) || takesItself(element, e)) return;
    if (e.key === "Escape" && element instanceof HTMLElement && isField(element)) {
      // A browser empties a search field by it: a second one leaves it.
      if (element instanceof HTMLInputElement && element.type === "search" && element.value !== "") return;
      e.preventDefault();
      leaveField(element);
      return;
    }
    const { binding, more } = matcher.match(strokeOf(e), keyGroups.get(), isField(element), e.timeStamp);
    if (more) e.preventDefault();
    if (!binding) return;
    e.preventDefault();
    binding.run(e);
  };
  target.addEventListener("keydown", onKey);
  return () => target.removeEventListener("keydown", onKey);
}

/** Takes the focus out of a field: to what takes keys around it, such as the card of a question, else to the page. */
function leaveField(field: HTMLElement): void {
  const around = field.parentElement?.closest<HTMLElement>("[data-takes-keys]");
  if (around) around.focus({ preventScroll: true });
  else field.blur();
}

// A dialog, a menu or a list that came up has the keyboard for itself: keys of the page beneath would act unseen.
// Content of a dialog that wants keys of its own to work says so with data-keys.
function inOverlay(element: EventTarget | null): boolean {
  if (!(element instanceof Element)) return false;
  const overlay = element.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [data-trigger] [role="listbox"]');
  if (!overlay) return false;
  const own = element.closest("[data-keys]");
  return !(own && overlay.contains(own));
}

// Enter and space belong to the control that has the focus.
function takesItself(element: EventTarget | null, e: KeyboardEvent): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey || !(element instanceof HTMLElement)) return false;
  if (e.key !== "Enter" && e.key !== " ") return false;
  return element.closest("button, a[href], summary, [role=button], [role=tab], [role=option], [role=switch]") !== null;
}
