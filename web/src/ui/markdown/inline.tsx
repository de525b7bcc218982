import { Parser, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { conversationTexts as t } from "../../texts/conversation";
import { visible } from "../diff/visible";
import { dataImage, safeHref } from "./link";
import styles from "./Markdown.module.css";
import { Picture } from "./Picture";
import { isMarkup, sanitise } from "./sanitise";

/** Draws what stands within a line. */
export function Inline({ tokens }: { tokens: readonly Token[] }): ReactNode {
  if (tokens.some(isTag)) return <Html html={Parser.parseInline(tokens.map(literal))} />;
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
    <Fragment key={i}>{one(token)}</Fragment>
  ));
}

/** Draws HTML that an agent wrote, sanitised. */
export function Html({ html, block }: { html: string; block?: boolean }) {
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
export function Box({ checked }: { checked: boolean }) {
  return (
    <span role="img" aria-label={checked ? t.taskDone : t.taskOpen} className={styles.box} data-checked={checked}>
      {checked ? "✓" : ""}
    </span>
  );
}
