import { memo, useMemo, useState } from "react";
import { diffTexts as t } from "../../texts/tools";
import { Button } from "../Button";
import { classes } from "../classes";
import { ColouredLine, languageOf, type TokenLine, useColoured } from "../code";
import css from "./Difference.module.css";
import { runs } from "./marked";
import type { Row, Sheet } from "./sheet";

const mostRows = 400;
const mostLine = 2_000;

/** Draws a sheet: numbers, signs, words that differ, and the colours of the language that the path tells of. */
export function Difference(props: {
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
