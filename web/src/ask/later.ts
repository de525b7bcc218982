import { Cell } from "../store/readable";

const key = "switchboard.later";

function stored(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return new Set(Array.isArray(list) ? list.filter((id) => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}

/** The questions that were put off in this tab. */
export const later = new Cell<ReadonlySet<string>>(stored());

/** How many are remembered: those that were settled meanwhile go, the first ones first. */
const mostRemembered = 500;

/** Puts a question off, or takes that back. */
export function putOff(question: string, off: boolean): void {
  const list = [...later.get()].filter((id) => id !== question);
  if (off) list.push(question);
  later.set(new Set(list.slice(-mostRemembered)));
  try {
    sessionStorage.setItem(key, JSON.stringify([...later.get()]));
  } catch {
    // It is remembered as long as the tab is there.
  }
}
