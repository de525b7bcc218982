import type { TokenLine } from "../code";

/** A part of a line that is marked as a whole or not at all. */
export interface Run {
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
