import { Lexer, type Token, type TokensList } from "marked";
import { Recent } from "../code/recent";

/** A block of a text, with the very characters that it was made of. */
export interface Block {
  readonly raw: string;
  readonly token: Token;
}

// What nobody writes, and what would take the lexer seconds or the browser's stack: quotes within quotes, a paragraph of a book's
// length. It is shown as it was written.
const mostLevels = 30;
const mostLine = 10_000;
const patience = 500; // milliseconds

class BoundedLexer extends Lexer {
  private level = 0;
  private readonly deadline = performance.now() + patience;

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped?: boolean): Token[] {
    return this.within(src, tokens, () => super.blockTokens(src, tokens, lastParagraphClipped));
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length > mostLine || performance.now() > this.deadline) return asWritten(src, tokens);
    return this.within(src, tokens, () => super.inlineTokens(src, tokens));
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
