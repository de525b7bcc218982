import type { Question } from "../api/types";

/** How many open questions are drawn at once: each is a whole form, and hundreds of them would make the page slow. */
export const pageSize = 25;

/** How many settled questions stay in sight. They are a line each, and go by themselves after a while. */
export const mostSettled = 50;

/** A part of a list of questions. */
export interface QuestionPage {
  readonly list: readonly Question[];
  /** How many open ones are before it, in it and behind it. */
  readonly before: number;
  readonly open: number;
  readonly after: number;
}

const isOpen = (q: Question): boolean => q.state === "open";

/**
 * The page that begins at a place of the list: it ends before the first open question that is too many, so that what is settled
 * takes no room from what waits. A place behind the last open question gives the last page.
 */
export function pageAt(list: readonly Question[], place: number): QuestionPage {
  let from = Math.max(0, Math.min(place, list.length));
  if (from > 0 && !list.slice(from).some(isOpen)) from = pageBefore(list, list.length);
  let open = 0;
  let to = from;
  while (to < list.length) {
    const q = list[to];
    if (q && isOpen(q) && ++open > pageSize) {
      open--;
      break;
    }
    to++;
  }
  const count = (part: readonly Question[]) => part.filter(isOpen).length;
  return { list: list.slice(from, to), before: count(list.slice(0, from)), open, after: count(list.slice(to)) };
}

/** The place at which the page before a place begins. */
export function pageBefore(list: readonly Question[], place: number): number {
  let open = 0;
  for (let at = Math.min(place, list.length) - 1; at >= 0; at--) {
    const q = list[at];
    if (q && isOpen(q) && ++open === pageSize) return pageStart(list, at);
  }
  return 0;
}

/** The place at which the page begins that holds a question, if the pages are counted from the beginning. */
export function pageHolding(list: readonly Question[], question: string): number {
  const at = list.findIndex((q) => q.id === question);
  let open = 0;
  let from = 0;
  for (let i = 0; i <= at; i++) {
    const q = list[i];
    if (!q || !isOpen(q)) continue;
    if (open > 0 && open % pageSize === 0) from = i;
    open++;
  }
  return from;
}

/** A page that would leave out only what is settled begins at the beginning. */
function pageStart(list: readonly Question[], at: number): number {
  return list.slice(0, at).some(isOpen) ? at : 0;
}

/** The list without the settled questions that are too many, of which those that were settled last stay. */
export function withoutOldSettled(list: readonly Question[]): readonly Question[] {
  const settled = list.filter((q) => !isOpen(q));
  if (settled.length <= mostSettled) return list;
  const time = (q: Question) => Date.parse(q.settled ?? "") || 0;
  const gone = new Set(settled.sort((a, b) => time(b) - time(a)).slice(mostSettled));
  return list.filter((q) => !gone.has(q));
}
