import { memo, useMemo } from "react";
import type { Block, Tool } from "../talk/item";
import { isObject } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Markdown } from "../ui/markdown/Markdown";
import { Picture } from "../ui/markdown/Picture";
import { JsonTree } from "./JsonTree";
import { Output, OutputPeek } from "./Output";
import css from "./Result.module.css";
import { Scroller } from "./Scroller";

const mostJson = 500_000;

/** The text of a result without the marks that the CLI puts around an error for the model. */
export function resultText(item: Tool): string {
  const text = item.result?.text ?? "";
  const error = /^\s*<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/.exec(text);
  return error?.[1] ?? text;
}

/** What a tool gave: its text, and its images. */
export function Result({ item, as = "output" }: { item: Tool; as?: "output" | "markdown" | "data" }) {
  const text = resultText(item);
  const bad = item.state === "failed" || item.state === "denied";
  const shown = text.trim() !== "";
  const others = item.result?.blocks.filter((block) => block.type !== "text") ?? [];
  if (!shown && others.length === 0) return item.state === "done" ? <p className={css.none}>{t.noOutput}</p> : null;
  return (
    <>
      {shown && (bad || as === "output" ? <Output text={text} tone={bad ? "bad" : "plain"} /> : <Told text={text} as={as} />)}
      <Blocks blocks={others} />
    </>
  );
}

/** A text that may be JSON or Markdown. */
const Told = memo(function Told({ text, as }: { text: string; as: "markdown" | "data" }) {
  const data = useMemo(() => readJson(text), [text]);
  if (data !== undefined) {
    return (
      <Scroller className={css.box} label={t.output}>
        <JsonTree value={data} />
      </Scroller>
    );
  }
  if (as === "markdown" || looksLikeMarkdown(text)) {
    return (
      <Scroller className={css.box} label={t.output}>
        <Markdown text={text} />
      </Scroller>
    );
  }
  return <Output text={text} />;
});

/** JSON of which a tree can be made; undefined for all other texts. */
export function readJson(text: string): unknown {
  if (text.length > mostJson || !/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) || isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text is most likely Markdown: it has a heading, a fence, a list of several, a link or a table. */
export function looksLikeMarkdown(text: string): boolean {
  const begin = text.slice(0, 20_000);
  return /^#{1,4} \S|^```|^\|.*\|\s*\n\|[ :|-]+\||\[[^\]\n]+\]\(https?:/m.test(begin) || /^[-*] \S.*\n+[-*] \S/m.test(begin);
}

/** Images and documents of a result. */
export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.slice(0, 50).map((block, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a result have no other name than their place
    <BlockView key={i} block={block} />
  ));
}

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case "image":
      return <Picture mediaType={block.mediaType} data={block.data} url={block.url} alt={t.image} />;
    case "document":
      return (
        <p className={css.none}>
          {t.document(
            block.title,
            block.mediaType,
            block.data === undefined ? (block.text?.length ?? 0) : Math.floor(block.data.length * 0.75),
          )}
        </p>
      );
    case "other":
      return (
        <Scroller className={css.box} label={t.output}>
          <JsonTree value={block.raw} />
        </Scroller>
      );
    case "text":
      return <Output text={block.text} />;
  }
}

/** The first lines of what a tool gave. */
export function ResultPeek({ item, lines }: { item: Tool; lines?: number }) {
  const text = resultText(item);
  const shown = useMemo(() => (looksLikeMarkdown(text) ? unmarked(text) : text), [text]);
  return <OutputPeek text={shown} tone={item.state === "denied" ? "bad" : "plain"} lines={lines} />;
}

/** The words of Markdown without its signs, for a glimpse of it. */
export function unmarked(text: string): string {
  const begin = text.slice(0, 20_000); // only the first lines are looked at
  const words = begin
    .replace(/^#{1,6} +/gm, "")
    .replace(/(\*\*|__)(\S[^\n]*?)\1/g, "$2")
    .replace(/\[([^\]\n]+)\]\([^)\n]*\)/g, "$1");
  return words + text.slice(begin.length);
}
