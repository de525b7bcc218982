import type { Mark } from "../api/types";
import { visible } from "../ui/diff/visible";
import styles from "./Marked.module.css";
import { pieces } from "./marks";

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
