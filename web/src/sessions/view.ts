import { draft } from "../store/drafts";
import { Cell } from "../store/readable";
import type { Grouping, Sorting, StateFilter } from "./list";

/** How the list is shown, as far as it is kept: the text of the filter is a draft of the tab. */
export interface Look {
  states: StateFilter;
  group: Grouping;
  sort: Sorting;
}

const usual: Look = { states: "all", group: "none", sort: "updated" };
const allowed: { [K in keyof Look]: readonly Look[K][] } = {
  states: ["all", "waiting", "failed", "working", "idle", "ended"],
  group: ["none", "dir", "state"],
  sort: ["updated", "created", "usd", "title"],
};
const storageKey = "switchboard.sessions-view";

function choice<T extends string>(value: unknown, of: readonly T[], otherwise: T): T {
  return of.find((one) => one === value) ?? otherwise;
}

/** Reads a kept look; whatever does not fit is as usual. */
export function readLook(text: string | null): Look {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "");
  } catch {
    return usual;
  }
  if (typeof kept !== "object" || kept === null) return usual;
  const given: { [name: string]: unknown } = { ...kept };
  return {
    states: choice(given.states, allowed.states, usual.states),
    group: choice(given.group, allowed.group, usual.group),
    sort: choice(given.sort, allowed.sort, usual.sort),
  };
}

function load(): Look {
  try {
    return readLook(globalThis.localStorage?.getItem(storageKey) ?? null);
  } catch {
    return usual; // storage may be forbidden
  }
}

/** The look of the list, kept for the next visit. */
export const look = new Cell<Look>(load());

look.subscribe(() => {
  try {
    globalThis.localStorage?.setItem(storageKey, JSON.stringify(look.get()));
  } catch {
    // It then lasts as long as the page.
  }
});

/** The text of the filter. */
export const filterText = draft("sessions.filter");

/** Where the list is scrolled to: on a phone it goes away while a session is open, and comes back. */
export const scrolled = new Cell(0);
