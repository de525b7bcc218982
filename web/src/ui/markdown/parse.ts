import { Lexer, type Token, type TokensList } from "marked";
import { Recent } from "../code/recent";

/** A block of a text, with the very characters that it was made of. */
export interface Block {
  readonly raw: string;
  readonly token: Token;
}

// Nobody writes quotes in quotes thirty deep, or a paragraph of a book's length. They would take the lexer seconds, or the browser's stack,
// and are shown as written.
const mostLevels = 30;
const mostLine = 10_000;
// The lexer looks for the end of each mark in all that follows it, so a paragraph costs its length times its marks, and stars are compared
// with each other. The bound is on that work and not on the clock: a text looks the same on each machine, however busy it is. That is
// 25 ms a paragraph at most.
const mostWork = 4_000_000;

class BoundedLexer extends Lexer {
  private level = 0;
  private inlineLevel = 0;
  /** What the current paragraph has cost. */
  private work = 0;

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped?: boolean): Token[] {
    return this.within(src, tokens, () => super.blockTokens(src, tokens, lastParagraphClipped));
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length > mostLine) return asWritten(src, tokens);
    // Emphasis in emphasis is read by calls within this one, which the paragraph pays for as well.
    if (this.inlineLevel === 0) this.work = 0;
    this.work += workOf(src);
    if (this.work > mostWork) return asWritten(src, tokens);
    this.inlineLevel++;
    try {
      return this.within(src, tokens, () => super.inlineTokens(src, tokens));
    } finally {
      this.inlineLevel--;
    }
  }

  private within(src: string, tokens: Token[], read: () => Token[]): Token[] {
    if (this.level >= mostLevels) return asWritten(src, tokens);
    this.level++;
    try {
      return read();
    } finally {
      this.level--;
    }
  }
}

/** About what it costs to read a paragraph. */
function workOf(text: string): number {
  const marks = text.match(/[*_~`[\]<!\\&:@]/g)?.length ?? 0;
  const emphasis = text.match(/[*_~]+/g)?.length ?? 0;
  return text.length * marks + 20 * emphasis * emphasis;
}

function asWritten(src: string, tokens: Token[]): Token[] {
  tokens.push({ type: "escape", raw: src, text: src });
  return tokens;
}

function lex(text: string): Block[] {
  // A lexer of its own each time: definitions of links belong to one text.
  return new BoundedLexer({ gfm: true, breaks: false }).lex(text).map((token) => ({ raw: token.raw, token }));
}

/**
 * Reads a text that grows. What has been read stays as it is, the very same objects, but for the last block: more text can
 * make that another one (a line a heading, a paragraph a table). So a delta costs what its block costs, not the whole.
 */
export class Growing {
  private text = "";
  private settled: Block[] = [];
  /** Where in the text the first block begins that is not settled. */
  private from = 0;
  private all: readonly Block[] = [];

  read(text: string): readonly Block[] {
    if (text === this.text) return this.all;
    if (!text.startsWith(this.text)) {
      this.settled = [];
      this.from = 0;
    }
    this.text = text;
    const tail = lex(text.slice(this.from));
    this.all = [...this.settled, ...tail];
    // The lexer makes line ends and tabs alike: if its blocks are not the text, nobody knows where they begin.
    if (tail.reduce((sum, block) => sum + block.raw.length, 0) !== text.length - this.from) return this.all;
    let last = tail.length - 1;
    while (last > 0 && tail[last]?.token.type === "space") last--;
    for (const block of tail.slice(0, Math.max(last, 0))) {
      this.settled.push(block);
      this.from += block.raw.length;
    }
    return this.all;
  }

  /** Reads the text when it is whole. Blocks that come out as they were are the same objects again. */
  finish(text: string): readonly Block[] {
    const before = this.all;
    const blocks = parse(text);
    // A definition at the end of a text makes links of what was read before it.
    if (before.length === 0 || blocks.some((block) => block.token.type === "def")) return blocks;
    return blocks.map((block, i) => {
      const old = before[i];
      return old?.raw === block.raw ? old : block;
    });
  }
}

const kept = new Recent<readonly Block[]>(1_000_000);

/** Reads a whole text. */
export function parse(text: string): readonly Block[] {
  const before = kept.get(text);
  if (before) return before;
  const blocks = lex(text);
  kept.set(text, blocks);
  return blocks;
}
