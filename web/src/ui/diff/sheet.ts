import { diffArrays, diffWordsWithSpace, structuredPatch } from "diff";
import { arr, num } from "../../talk/json";
import { visible, visibleEnds } from "../visible";

/** A place where a file changes, as the CLI's structuredPatch and jsdiff have it. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with a space, "+", "-", or a backslash for a remark. */
  readonly lines: readonly string[];
}

export interface Row {
  readonly sign: " " | "+" | "-" | "\\";
  /** The number of the line before and after; 0 if it is not there. */
  readonly old: number;
  readonly new: number;
  readonly text: string;
  /** What of the line is another than in the line that it replaces: from, to. */
  readonly marks?: readonly (readonly [number, number])[];
}

/** A difference, ready to be drawn. */
export interface Sheet {
  readonly hunks: readonly (readonly Row[])[];
  readonly added: number;
  readonly removed: number;
}

// Beyond these a difference is not looked for: it would take too long, and nobody would read it.
const mostCompared = 2_000_000;
const mostLineForWords = 1_000;
const patience = 100; // milliseconds

/** Compares two texts. Undefined if they are too long to be compared. */
export function compare(before: string, after: string, context = 3): Sheet | undefined {
  if (before.length + after.length > mostCompared) return undefined;
  // If the line ends change, that is a change as well.
  const show = sameEnds(before, after) ? visible : visibleEnds;
  const [old, now] = ends(show(before), show(after));
  if (old === "" || now === "") return sheetOf(old === now ? [] : [replaced(old, now)]); // a new file needs no comparing
  const patch = structuredPatch("", "", old, now, undefined, undefined, { context, timeout: patience });
  return sheetOf(patch?.hunks ?? [replaced(old, now)]);
}

/** Whether the lines of two texts end alike: all as those of Windows do, or none. */
function sameEnds(before: string, after: string): boolean {
  const texts = [before, after].filter((text) => text.includes("\n"));
  return texts.every((text) => !text.includes("\r\n")) || texts.every((text) => !/(?<!\r)\n/.test(text));
}

// ends lets both texts end with a line feed unless they differ in that: they often are parts of a file, and it would be said of
// each that it has none.
function ends(before: string, after: string): [string, string] {
  const [old, now] = [before === "" || before.endsWith("\n"), after === "" || after.endsWith("\n")];
  const differ = old !== now && before !== "" && after !== "";
  return differ ? [before, after] : [old ? before : `${before}\n`, now ? after : `${after}\n`];
}

/** All of a text for all of another one: what is said if there was no time to compare them. */
function replaced(before: string, after: string): Hunk {
  return { oldStart: 1, newStart: 1, lines: [...linesOf(before).map((l) => `-${l}`), ...linesOf(after).map((l) => `+${l}`)] };
}

/** The lines of a text; a line feed at its end does not begin another one. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The hunks of a patch that may be anything. */
export function readHunks(patch: unknown): readonly Hunk[] {
  if (!Array.isArray(patch)) return [];
  const hunks: Hunk[] = [];
  for (const hunk of patch) {
    const lines = arr(hunk, "lines").filter((line) => typeof line === "string");
    if (lines.length > 0) {
      hunks.push({ oldStart: num(hunk, "oldStart") ?? 1, newStart: num(hunk, "newStart") ?? 1, lines: lines.map(visible) });
    }
  }
  return hunks;
}

// Cards come and go while one scrolls, and each draws its patch and counts its lines: what was read of a patch is kept as long as it.
const read = new WeakMap<object, Sheet>();

/** A patch of any shape, ready to be drawn. */
export function sheetOfPatch(patch: unknown): Sheet {
  if (typeof patch !== "object" || patch === null) return sheetOf([]);
  const known = read.get(patch);
  if (known) return known;
  const sheet = sheetOf(readHunks(patch));
  read.set(patch, sheet);
  return sheet;
}

/** Numbers the lines of hunks, and finds what changes within them. */
export function sheetOf(hunks: readonly Hunk[]): Sheet {
  const deadline = Date.now() + patience;
  let added = 0;
  let removed = 0;
  const drawn = hunks.map((hunk) => {
    const rows: Row[] = [];
    let [old, now] = [hunk.oldStart, hunk.newStart];
    let [before, after]: [string[], string[]] = [[], []];
    const flush = () => {
      for (const row of changed(before, after, Date.now() < deadline)) {
        if (row.sign === "-") {
          removed++;
          rows.push({ ...row, old: old++, new: 0 });
        } else if (row.sign === "+") {
          added++;
          rows.push({ ...row, old: 0, new: now++ });
        } else {
          rows.push({ ...row, old: old++, new: now++ });
        }
      }
      [before, after] = [[], []];
    };
    for (const line of hunk.lines) {
      const sign = line[0];
      // A line feed in it is there only if the patch is not what it says to be.
      const text = (sign === "+" || sign === "-" || sign === " " || sign === "\\" ? line.slice(1) : line).replaceAll("\n", "␊");
      if (sign === "-") {
        if (after.length > 0) flush();
        before.push(text);
      } else if (sign === "+") {
        after.push(text);
      } else if (sign === "\\") {
        flush();
        rows.push({ sign: "\\", old: 0, new: 0, text: text.trim() });
      } else {
        flush();
        rows.push({ sign: " ", old: old++, new: now++, text });
      }
    }
    flush();
    return rows;
  });
  return { hunks: drawn, added, removed };
}

type Line = Pick<Row, "sign" | "text" | "marks">;

// changed puts lines that were removed beside those that came for them. Some patches have lines in them that are on both sides;
// these are not shown as changed.
function changed(before: readonly string[], after: readonly string[], hasTime: boolean): Line[] {
  if (!hasTime || before.length === 0 || after.length === 0 || before.length * after.length > 250_000)
    return plainly(before, after);
  const parts = diffArrays([...before], [...after], { timeout: patience });
  if (!parts) return plainly(before, after);
  const lines: Line[] = [];
  let gone: readonly string[] = [];
  const flush = (come: readonly string[]) => {
    for (const line of paired(gone, come)) lines.push(line); // there may be more of them than a call takes
    gone = [];
  };
  for (const part of parts) {
    if (part.removed) {
      flush([]);
      gone = part.value;
    } else if (part.added) {
      flush(part.value);
    } else {
      flush([]);
      for (const text of part.value) lines.push({ sign: " ", text });
    }
  }
  flush([]);
  return lines;
}

function plainly(before: readonly string[], after: readonly string[]): Line[] {
  return [...before.map((text): Line => ({ sign: "-", text })), ...after.map((text): Line => ({ sign: "+", text }))];
}

// paired marks the words that differ, if as many lines came as went: then each most likely replaces the one in its place.
function paired(gone: readonly string[], come: readonly string[]): Line[] {
  if (gone.length === 0 || gone.length !== come.length || gone.length > 100) return plainly(gone, come);
  const pairs = gone.map((text, i) => words(text, come[i] ?? ""));
  return [
    ...gone.map((text, i): Line => ({ sign: "-", text, marks: pairs[i]?.before })),
    ...come.map((text, i): Line => ({ sign: "+", text, marks: pairs[i]?.after })),
  ];
}

type Marks = (readonly [number, number])[];

/** Where two lines differ. Undefined if they have so little in common that marks would only be noise. */
export function words(before: string, after: string): { before: Marks; after: Marks } | undefined {
  if (before.length > mostLineForWords || after.length > mostLineForWords) return undefined;
  const parts = diffWordsWithSpace(before, after, { timeout: 20 });
  if (!parts) return undefined;
  const marks: { before: Marks; after: Marks } = { before: [], after: [] };
  let [old, now, same] = [0, 0, 0];
  for (const part of parts) {
    const length = part.value.length;
    if (part.removed) {
      add(marks.before, old, old + length);
      old += length;
    } else if (part.added) {
      add(marks.after, now, now + length);
      now += length;
    } else {
      same += part.value.trim().length;
      old += length;
      now += length;
    }
  }
  return same * 3 >= Math.max(before.trim().length, after.trim().length) ? marks : undefined;
}

function add(marks: Marks, from: number, to: number): void {
  const last = marks.at(-1);
  if (last && last[1] === from) marks[marks.length - 1] = [last[0], to];
  else marks.push([from, to]);
}
