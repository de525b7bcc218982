import { memo, useMemo, useState } from "react";
import type { Json } from "../../api/types";
import { clip } from "../../talk/json";
import { diffTexts as t } from "../../texts/tools";
import { Button } from "../buttons";
import { classes } from "../classes";
import { ColouredLine } from "../code/Code";
import { type TokenLine, useColoured } from "../code/highlight";
import { languageOf } from "../code/languages";
import { visible } from "../visible";
import css from "./Diff.module.css";
import { compare, type Hunk, linesOf, type Row, type Sheet, sheetOfPatch } from "./sheet";

interface Look {
  /** Says in which language the lines are, and names the difference for those who do not see it. */
  path?: string;
  className?: string;
  /** How many lines are shown at first. If absent, 400. */
  most?: number;
  /** What the button for more does, instead of showing more. */
  onMore?: () => void;
}

/** What changes between two texts of a file. */
export function Diff({ before, after, ...look }: Look & { before: string; after: string }) {
  const sheet = useMemo(() => compare(before, after), [before, after]);
  if (!sheet) return <TooLong before={before} after={after} />;
  if (sheet.hunks.length === 0) return <p className={css.note}>{t.same}</p>;
  return <Difference sheet={sheet} {...look} />;
}

/** A patch as a tool gave it. What is no hunk is left out. */
export function Patch({ hunks, ...look }: Look & { hunks: readonly Hunk[] | readonly Json[] | Json }) {
  const sheet = sheetOfPatch(hunks);
  if (sheet.hunks.length === 0) return <p className={css.note}>{t.same}</p>;
  return <Difference sheet={sheet} {...look} />;
}

/** Lines of a file with their numbers. */
export function Listing({ text, start = 1, ...look }: Look & { text: string; start?: number }) {
  const sheet = useMemo(
    () => ({
      hunks: [linesOf(visible(text)).map((line, i) => ({ sign: " " as const, old: 0, new: start + i, text: line }))],
      added: 0,
      removed: 0,
    }),
    [text, start],
  );
  return <Difference sheet={sheet} listing {...look} />;
}

/** How many lines a change adds and removes, in signs. */
export function Changes({ added, removed }: { added: number; removed: number }) {
  return (
    <span className={css.changes}>
      {added > 0 && <span className={css.plus}>+{added}</span>}
      {removed > 0 && <span className={css.minus}>−{removed}</span>}
    </span>
  );
}

/** How many lines a patch of any shape adds and removes. */
export function countHunks(patch: unknown): { added: number; removed: number } {
  const { added, removed } = sheetOfPatch(patch);
  return { added, removed };
}

/** How many lines differ between two texts; of those that are too long to be compared, how many they have. */
export function countChanges(before: string, after: string): { added: number; removed: number } {
  const sheet = compare(before, after, 0);
  return { added: sheet?.added ?? linesOf(after).length, removed: sheet?.removed ?? linesOf(before).length };
}

/** Two texts that are not compared: both, one after the other. */
function TooLong({ before, after }: { before: string; after: string }) {
  return (
    <>
      <p className={css.note}>{t.tooLong(linesOf(before).length, linesOf(after).length)}</p>
      {before !== "" && <Whole label={t.before} text={before} />}
      {after !== "" && <Whole label={t.after} text={after} />}
    </>
  );
}

/** A very long text: its beginning, and all of it on demand. */
function Whole({ label, text }: { label: string; text: string }) {
  const [all, setAll] = useState(false);
  const part = all ? { text, left: 0 } : clip(text);
  return (
    <figure>
      <figcaption className={css.note}>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it always scrolls, and what scrolls must be reachable by keyboard */}
      <pre className={css.begin} tabIndex={0} translate="no">
        {visible(part.text)}
      </pre>
      {part.left > 0 && (
        <Button variant="quiet" size="s" onPress={() => setAll(true)}>
          {t.restOfLine(part.left)}
        </Button>
      )}
    </figure>
  );
}

const mostRows = 400;
const mostLine = 2_000;

/** Draws a sheet: numbers, signs, words that differ, and the colours of the language that the path tells of. */
function Difference(props: {
  sheet: Sheet;
  path?: string;
  className?: string;
  most?: number;
  onMore?: () => void;
  /** It is no difference but lines of a file: one number, no sign. */
  listing?: boolean;
}) {
  const { sheet, path, most = mostRows, onMore } = props;
  const [more, setMore] = useState(0);
  const total = useMemo(() => sheet.hunks.reduce((sum, rows) => sum + rows.length, 0), [sheet]);
  const limit = most + more;
  const shown = useMemo(() => cut(sheet, limit), [sheet, limit]);
  const sides = useMemo(() => sidesOf(shown), [shown]);
  const lang = path ? languageOf(path) : undefined;
  const before = useColoured(sides.before, lang);
  const after = useColoured(sides.after, lang);
  const digits = useMemo(
    () => String(Math.max(1, ...shown.flatMap((rows) => rows.map((r) => Math.max(r.old, r.new))))).length,
    [shown],
  );
  const numbers = digits <= 3 ? css.narrow : digits <= 5 ? css.medium : css.wide;
  let place = 0;
  return (
    <figure
      className={classes(css.sheet, numbers, props.listing && css.listing, oneSided(shown) && css.oneSided, props.className)}
      aria-label={props.listing ? t.listing(path) : t.label(path, sheet.added, sheet.removed)}
      translate="no"
    >
      {shown.map((rows, h) => (
        // The hunks of a sheet never change their places.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={h} className={css.hunk}>
          {rows.map((row) => {
            const lines = row.sign === "-" ? before : after;
            const at = sides.places[place++];
            return <Line key={place} row={row} tokens={at === undefined ? undefined : lines?.[at]} />;
          })}
        </div>
      ))}
      {total > limit && (
        <Button variant="quiet" size="s" className={css.more} onPress={onMore ?? (() => setMore((n) => n + 2_000))}>
          {t.moreLines(total - limit)}
        </Button>
      )}
    </figure>
  );
}

const Line = memo(function Line({ row, tokens }: { row: Row; tokens: TokenLine | undefined }) {
  const [whole, setWhole] = useState(false);
  const kind = row.sign === "+" ? css.added : row.sign === "-" ? css.removed : row.sign === "\\" ? css.remark : "";
  const cutOff = whole ? 0 : row.text.length - mostLine;
  // Tokens of another text than this line's would show what is not there.
  const plain = tokens === undefined || cutOff > 0 || tokens.reduce((n, token) => n + token.text.length, 0) !== row.text.length;
  const line = plain ? [{ text: cutOff > 0 ? row.text.slice(0, mostLine) : row.text }] : tokens;
  return (
    <div className={classes(css.line, kind)}>
      <span className={css.number}>{row.old || ""}</span>
      <span className={css.number}>{row.new || ""}</span>
      <span className={css.sign}>{row.sign === "-" ? "−" : row.sign === "+" ? "+" : " "}</span>
      <code className={css.text}>
        {runs(line, row.marks).map((run, i) => {
          const Part = run.marked ? "mark" : "span";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name than their place
            <Part key={i}>
              <ColouredLine line={run.tokens} />
            </Part>
          );
        })}
        {cutOff > 0 && (
          <Button variant="quiet" size="s" className={css.rest} onPress={() => setWhole(true)}>
            {t.restOfLine(cutOff)}
          </Button>
        )}
      </code>
    </div>
  );
});

/** Whether lines were only added, or only removed, and there is nothing around them: one column of numbers says it all. */
function oneSided(hunks: readonly (readonly Row[])[]): boolean {
  return hunks.every((rows) => rows.every((r) => r.new === 0)) || hunks.every((rows) => rows.every((r) => r.old === 0));
}

/** The first rows of a sheet. */
function cut(sheet: Sheet, most: number): readonly (readonly Row[])[] {
  let left = most;
  const hunks: (readonly Row[])[] = [];
  for (const rows of sheet.hunks) {
    if (left <= 0) break;
    hunks.push(rows.length > left ? rows.slice(0, left) : rows);
    left -= rows.length;
  }
  return hunks;
}

/** The texts before and after, for the colours, and in which line of its side each row stands. */
function sidesOf(hunks: readonly (readonly Row[])[]): { before: string; after: string; places: (number | undefined)[] } {
  const before: string[] = [];
  const after: string[] = [];
  const places: (number | undefined)[] = [];
  for (const row of hunks.flat()) {
    if (row.sign === "\\") {
      places.push(undefined);
      continue;
    }
    if (row.sign !== "+") before.push(row.text);
    if (row.sign !== "-") after.push(row.text);
    places.push((row.sign === "-" ? before : after).length - 1);
  }
  return { before: before.join("\n"), after: after.join("\n"), places };
}

/** A part of a line that is marked as a whole or not at all. */
interface Run {
  readonly marked: boolean;
  readonly tokens: TokenLine;
}

/** Cuts a line at the edges of its marks, and leaves the colours of its tokens. */
export function runs(tokens: TokenLine, marks: readonly (readonly [number, number])[] | undefined): readonly Run[] {
  if (!marks || marks.length === 0) return [{ marked: false, tokens }];
  const out: { marked: boolean; tokens: { text: string; cls?: string }[] }[] = [];
  let place = 0;
  let next = 0;
  for (const token of tokens) {
    let text = token.text;
    while (text !== "") {
      while (next < marks.length && (marks[next]?.[1] ?? 0) <= place) next++;
      const mark = marks[next];
      const marked = mark !== undefined && place >= mark[0];
      const edge = mark === undefined ? Number.POSITIVE_INFINITY : marked ? mark[1] : mark[0];
      const piece = text.slice(0, edge - place);
      const last = out.at(-1);
      const part = { ...token, text: piece };
      if (last && last.marked === marked) last.tokens.push(part);
      else out.push({ marked, tokens: [part] });
      place += piece.length;
      text = text.slice(piece.length);
    }
  }
  return out;
}
