import type { OpenSession } from "../store/hub";
import type { Folds } from "./fold";
import { holds } from "./plain";

/** How deep sub-agents are looked into: as deep as they are nested. */
const deepest = 40;

/** The items that hold a text, which is in lower case, in the order of the conversation. What a sub-agent does comes after its call. */
export function findItems(session: OpenSession, ids: readonly string[], wanted: string): readonly string[] {
  const found: string[] = [];
  const look = (within: readonly string[], depth: number): void => {
    for (const id of within) {
      const item = session.item(id).get();
      if (!item) continue;
      if (holds(item, wanted)) found.push(id);
      if (item.kind === "tool" && depth < deepest) look(item.children, depth + 1);
    }
  };
  if (wanted !== "") look(ids, 0);
  return found;
}

/** The tools whose sub-agents an item belongs to, the nearest first. */
function above(session: OpenSession, id: string): string[] {
  const tools: string[] = [];
  for (let at = session.item(id).get()?.parent; at !== undefined && tools.length < deepest; at = session.item(at).get()?.parent) {
    // What belongs to a call that is not there stands at the top.
    if (!session.item(at).get()) break;
    tools.push(at);
  }
  return tools;
}

/** The item at the top that holds another one: the tool whose sub-agent it belongs to. */
export function topOf(session: OpenSession, id: string): string {
  return above(session, id).at(-1) ?? id;
}

/** Opens all that an item stands in. */
export function openTo(session: OpenSession, folds: Folds, id: string): void {
  let step = id;
  for (const tool of above(session, id)) {
    folds.set(tool, true);
    folds.set(`${tool}/steps`, true);
    folds.lead(tool, step);
    step = tool;
  }
}

/** Opens all that hides a text, which is in lower case, of an item. */
export function openAt(session: OpenSession, folds: Folds, id: string, wanted: string): void {
  openTo(session, folds, id);
  folds.set(id, true);
  const item = session.item(id).get();
  if (item?.kind === "tool" && typeof item.input.prompt === "string" && item.input.prompt.toLowerCase().includes(wanted)) {
    folds.set(`${id}/prompt`, true);
  }
  if (item?.kind === "prompt") for (const i of item.blocks.keys()) folds.set(`${id} ${i}`, true);
}
