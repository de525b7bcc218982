// What a tool printed may be megabytes long. Only what is drawn is cut out of it; the rest is neither split nor copied.

const mostTail = 8_000; // a screen or two, if they are in one line
const mostAll = 1_000_000;
const mostPeekLine = 300;

export interface Excerpt {
  readonly text: string;
  /** How many lines stand before it. */
  readonly before: number;
  /** How many lines stand behind it. */
  readonly after: number;
  /** How many characters of its first or last line are left out, or of all if it is too long to be shown whole. */
  readonly cut: number;
}

/** A text without the empty lines around it. */
export function trimmed(text: string): string {
  return text.replace(/^(?:[ \t\r]*\n)+/, "").trimEnd();
}

/** How many lines a text has. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < text.length - 1; i = text.indexOf("\n", i + 1)) lines++;
  return lines;
}

/** The first lines that have something in them, each not too long. */
export function firstLines(text: string, most: number): Excerpt {
  let end = -1;
  const lines: string[] = [];
  let cut = 0;
  while (lines.length < most) {
    const from = end + 1;
    end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    const line = text.slice(from, Math.min(to, from + mostPeekLine));
    if (line.trim() !== "") lines.push(to - from > mostPeekLine ? `${line}…` : line);
    cut += Math.max(0, to - from - mostPeekLine);
    if (end < 0) break;
  }
  const after = end < 0 ? 0 : countLines(text.slice(end + 1));
  return { text: lines.join("\n"), before: 0, after, cut };
}

/** The last lines: of what a program printed, the end tells most. */
export function lastLines(text: string, most: number): Excerpt {
  let from = text.length;
  for (let n = 0; n < most && from > 0; n++) {
    from = text.lastIndexOf("\n", from - 1);
    if (from < 0) from = 0;
  }
  if (from > 0) from++;
  if (text.length - from <= mostTail)
    return { text: text.slice(from), before: from === 0 ? 0 : countLines(text.slice(0, from)), after: 0, cut: 0 };
  const start = text.length - mostTail;
  return { text: `…${text.slice(start)}`, before: countLines(text.slice(0, from)), after: 0, cut: start - from };
}

/** All of a text, or as much of it as a page can bear. */
export function allLines(text: string): Excerpt {
  if (text.length <= mostAll) return { text, before: 0, after: 0, cut: 0 };
  return { text: `${text.slice(0, mostAll)}…`, before: 0, after: 0, cut: text.length - mostAll };
}
