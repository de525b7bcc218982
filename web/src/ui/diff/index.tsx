import { useMemo, useState } from "react";
import type { Json } from "../../api/types";
import { clip } from "../../talk/json";
import { diffTexts as t } from "../../texts/tools";
import { Button } from "../Button";
import { Difference } from "./Difference";
import css from "./Difference.module.css";
import { compare, type Hunk, linesOf, sheetOfPatch } from "./sheet";
import { visible } from "./visible";

export type { Hunk } from "./sheet";
export { visible } from "./visible";

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
