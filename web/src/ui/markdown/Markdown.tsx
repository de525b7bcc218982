import { Parser, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode, useMemo, useState } from "react";
import { conversationTexts as t } from "../../texts/conversation";
import { Button } from "../buttons";
import { CopyButton } from "../CopyButton";
import { classes } from "../classes";
import { Code, LongText } from "../code/Code";
import { languageNamed } from "../code/languages";
import { visible } from "../visible";
import { dataImage, safeHref } from "./link";
import styles from "./Markdown.module.css";
import { Picture } from "./Picture";
import { Growing } from "./parse";
import { isMarkup, sanitise } from "./sanitise";

/** Texts above this are shown as they are: laying them out would hold up the page. */
export const formattedMost = 200_000;
// Beyond this not even on request: it would take the page with it.
const formattableMost = 1_000_000;

/** A text in Markdown. What an agent wrote becomes harmless markup; while it `streaming`s only its last block is drawn again. */
export function Markdown({ text, streaming, className }: { text: string; streaming?: boolean; className?: string }) {
  const [anyway, setAnyway] = useState(false);
  if (text.length <= formattedMost || anyway) return <Formatted text={text} streaming={streaming} className={className} />;
  return (
    <div className={className}>
      <p className={styles.note}>
        {t.asText}{" "}
        {text.length <= formattableMost ? (
          <Button variant="quiet" size="s" onPress={() => setAnyway(true)}>
            {t.asMarkdown}
          </Button>
        ) : null}
      </p>
      <LongText text={text} wrap />
    </div>
  );
}

function Formatted({ text, streaming, className }: { text: string; streaming?: boolean; className?: string }) {
  const [growing] = useState(() => new Growing());
  const blocks = useMemo(() => (streaming ? growing.read(text) : growing.finish(text)), [growing, text, streaming]);
  return (
    <div className={classes(styles.markdown, className)}>
      {blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text only grows at its end, so a block keeps its place
        <Block key={i} token={block.token} growing={streaming === true && i === blocks.length - 1} />
      ))}
    </div>
  );
}

/** A block of a text. With the same token it is not drawn again. */
const Block = memo(function Block({ token, growing }: { token: Token; growing?: boolean }): ReactNode {
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

/** A block of code within a text, with its language and a button that copies it. */
function CodeBlock({ text, lang, growing }: { text: string; lang?: string; growing?: boolean }) {
  const name = lang?.trim().split(/[\s{,:]/, 1)[0] ?? "";
  // While it grows it has no colours: they would be made anew for each delta.
  const language = growing ? undefined : languageNamed(name);
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span>{name.slice(0, 40)}</span>
        <CopyButton text={text} label={t.copyCode} className={styles.copy} />
      </figcaption>
      <Code text={text} lang={language} className={styles.block} />
    </figure>
  );
}

/** Draws what stands within a line. */
function Inline({ tokens }: { tokens: readonly Token[] }): ReactNode {
  if (tokens.some(isTag)) return <Html html={Parser.parseInline(tokens.map(literal))} />;
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
    <Fragment key={i}>{one(token)}</Fragment>
  ));
}

/** Draws HTML that an agent wrote, sanitised. */
function Html({ html, block }: { html: string; block?: boolean }) {
  const inner = { __html: sanitise(html) };
  // biome-ignore-start lint/security/noDangerouslySetInnerHtml: it is sanitised right here, and this is the only place
  return block ? <div dangerouslySetInnerHTML={inner} /> : <span dangerouslySetInnerHTML={inner} />;
  // biome-ignore-end lint/security/noDangerouslySetInnerHtml: as above
}

const lineBreak = /^<br\s*\/?>$/i;

/** Whether a token is a tag that is drawn as one, and that may enclose the tokens after it. */
function isTag(token: Token): boolean {
  return token.type === "html" && !lineBreak.test(token.raw) && isMarkup(token.raw);
}

/** The same token, but a tag that is none of ours as the text that it is. */
function literal(token: Token): Token {
  if (token.type === "html" && !lineBreak.test(token.raw) && !isTag(token)) {
    return { type: "text", raw: token.raw, text: token.raw, escaped: false } satisfies Tokens.Text;
  }
  return "tokens" in token && token.tokens ? { ...token, tokens: token.tokens.map(literal) } : token;
}

function one(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inner(token)}</strong>;
    case "em":
      return <em>{inner(token)}</em>;
    case "del":
      return <del>{inner(token)}</del>;
    case "br":
      return <br />;
    case "codespan":
      return <code className={styles.span}>{visible(text(token))}</code>;
    case "link":
      return <Link token={token as Tokens.Link} />;
    case "image":
      return <Image token={token as Tokens.Image} />;
    case "checkbox":
      return <Box checked={(token as Tokens.Checkbox).checked} />;
    case "html":
      return lineBreak.test(token.raw) ? <br /> : token.raw;
    case "escape":
      return text(token);
    case "text":
      if ("tokens" in token && token.tokens) return inner(token);
      return withEntities(text(token));
    default:
      return "tokens" in token && token.tokens ? inner(token) : token.raw;
  }
}

function inner(token: Token): ReactNode {
  return <Inline tokens={("tokens" in token && token.tokens) || []} />;
}

function text(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

/** Names such as &nbsp; are HTML's own: the browser resolves them. */
function withEntities(plain: string): ReactNode {
  if (!/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/i.test(plain)) return plain;
  return <Html html={plain.replaceAll("<", "&lt;")} />;
}

function Link({ token }: { token: Tokens.Link }) {
  const href = safeHref(token.href);
  const label = <Inline tokens={token.tokens} />;
  if (href === undefined) return <span title={token.href}>{label}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {label}
    </a>
  );
}

/** A picture that is in the text itself is shown; one elsewhere is a link, so that reading a text fetches nothing. */
function Image({ token }: { token: Tokens.Image }) {
  const own = dataImage(token.href);
  if (own) return <Picture mediaType={own.mediaType} data={own.data} alt={token.text} />;
  const href = safeHref(token.href);
  const name = token.text || token.href.slice(0, 200);
  if (href === undefined) return <span title={token.href.slice(0, 200)}>{name}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {t.pictureElsewhere(name)}
    </a>
  );
}

/** The box of a task in a list. It cannot be ticked here: the text is not ours. */
function Box({ checked }: { checked: boolean }) {
  return (
    <span role="img" aria-label={checked ? t.taskDone : t.taskOpen} className={styles.box} data-checked={checked}>
      {checked ? "✓" : ""}
    </span>
  );
}
