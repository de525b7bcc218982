import type { Mark } from "../api/types";
import { visible } from "../ui/visible";
import styles from "./Marked.module.css";

/** A text with its marks. */
export function Marked({ text, marks }: { text: string; marks?: readonly Mark[] | null }) {
  let at = 0;
  return pieces(text, marks).map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.marked ? (
      <mark key={key} className={styles.mark}>
        {visible(piece.text)}
      </mark>
    ) : (
      <span key={key}>{visible(piece.text)}</span>
    );
  });
}

/** A piece of a text, marked or not. */
export interface Piece {
  text: string;
  marked: boolean;
}

/**
 * Cuts a text at its marks. They are counted in code points, as the server counts, and not in the units of JavaScript's strings. Marks that
 * overlap, run backwards or lie outside are put right.
 */
export function pieces(text: string, marks: readonly Mark[] | null | undefined): Piece[] {
  const points = Array.from(text);
  const out: Piece[] = [];
  const add = (from: number, to: number, marked: boolean): void => {
    if (to > from) out.push({ text: points.slice(from, to).join(""), marked });
  };
  let at = 0;
  for (const mark of [...(marks ?? [])].sort((a, b) => a.from - b.from)) {
    const from = Math.max(at, mark.from);
    const to = Math.min(points.length, mark.to);
    if (to <= from) continue;
    add(at, from, false);
    add(from, to, true);
    at = to;
  }
  add(at, points.length, false);
  return out;
}
