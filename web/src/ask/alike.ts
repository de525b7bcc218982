import type { Question } from "../api/types";
import { isObject } from "../talk/json";
import { holdsHidden } from "./hidden";
import { callOf, enterPlanMode } from "./request";

/** How long an input may be that is answered together with others: all of it is shown beside the button. */
const mostInput = 2_000;

/**
 * What questions have in common that can be answered together: the tool and all of its input, but for the words about a command. Undefined
 * for what has to be looked at by itself.
 */
export function likeness(q: Question): string | undefined {
  if (q.kind !== "permission" || q.state !== "open") return undefined;
  const { tool, input, defaultNo, hook } = callOf(q);
  if (input === undefined || !isObject(input) || defaultNo || tool === enterPlanMode || holdsHidden(input)) return undefined;
  const members = Object.entries(input)
    .filter(([name]) => !(tool === "Bash" && name === "description"))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const same = JSON.stringify([tool, hook, members]);
  return same.length > mostInput ? undefined : same;
}

/** The questions that are like others of a list, by what they have in common. */
export function alikeOf(list: readonly Question[]): ReadonlyMap<string, readonly Question[]> {
  const groups = new Map<string, Question[]>();
  for (const q of list) {
    const like = likeness(q);
    if (like === undefined) continue;
    const group = groups.get(like);
    if (group) group.push(q);
    else groups.set(like, [q]);
  }
  for (const [like, group] of groups) if (group.length < 2) groups.delete(like);
  return groups;
}
