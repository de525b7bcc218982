const mine = new Set<string>();

/** How many are remembered. They matter for the minute in which the hub tells of settled questions. */
const mostRemembered = 200;

/** Takes note that a question was answered in this tab, or that it was not after all. */
export function answeredHere(question: string, here: boolean): void {
  mine.delete(question);
  if (here) mine.add(question);
  for (const oldest of mine) {
    if (mine.size <= mostRemembered) break;
    mine.delete(oldest);
  }
}

/** Whether a question was answered in this tab: nobody has to be told that here. */
export function isMine(question: string): boolean {
  return mine.has(question);
}
