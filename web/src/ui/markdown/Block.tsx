import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { CodeBlock } from "./CodeBlock";
import { Box, Html, Inline } from "./inline";
import styles from "./Markdown.module.css";
import { isMarkup } from "./sanitise";

/** A block of a text. With the same token it is not drawn again. */
export const Block = memo(function Block({ token, growing }: { token: Token; growing?: boolean }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "code": {
      const { text, lang } = token as Tokens.Code;
      return <CodeBlock text={text} lang={lang} growing={growing} />;
    }
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={(token as Tokens.Blockquote).tokens} growing={growing} />
        </blockquote>
      );
    case "list":
      return <List token={token as Tokens.List} growing={growing} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "html": {
      if (isMarkup(token.raw)) return <Html html={token.raw} block />;
      return <p className={styles.literal}>{token.raw.trimEnd()}</p>;
    }
    case "paragraph":
      return (
        <p>
          <Inline tokens={(token as Tokens.Paragraph).tokens} />
        </p>
      );
    default:
      return <Inline tokens={[token]} />;
  }
});

/** Blocks one after the other; the last one may still grow. */
function Blocks({ tokens, growing }: { tokens: readonly Token[]; growing?: boolean }) {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity but their place
    <Fragment key={i}>
      <Block token={token} growing={growing && i === tokens.length - 1} />
    </Fragment>
  ));
}

function Heading({ token }: { token: Tokens.Heading }) {
  // The session has the level above.
  const level = Math.min(token.depth + 1, 6) as 2 | 3 | 4 | 5 | 6;
  const Tag = `h${level}` as const;
  return (
    <Tag className={styles[`heading${Math.min(token.depth, 4)}`]}>
      <Inline tokens={token.tokens} />
    </Tag>
  );
}

function List({ token, growing }: { token: Tokens.List; growing?: boolean }) {
  const items = token.items.map((item, i) => {
    const boxed = item.tokens.some((inner) => inner.type === "checkbox" || startsWithBox(inner));
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
      <li key={i} className={item.task ? styles.task : undefined}>
        {item.task && !boxed ? <Box checked={item.checked === true} /> : null}
        <Blocks tokens={item.tokens} growing={growing && i === token.items.length - 1} />
      </li>
    );
  });
  return token.ordered ? <ol start={token.start === "" ? undefined : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function startsWithBox(token: Token): boolean {
  return "tokens" in token && token.tokens?.[0]?.type === "checkbox";
}

function Table({ token }: { token: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className={styles.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have no identity but their place
              <th key={i} data-align={cell.align ?? undefined} scope="col">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            <tr key={i}>
              {row.map((cell, j) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no identity but their place
                <td key={j} data-align={cell.align ?? undefined}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
