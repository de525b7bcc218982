import type { Block, Item } from "../talk/item";
import { pretty } from "../talk/json";
import { toolTitle } from "../talk/title";
import { sandboxTexts } from "../texts/sandbox";

function ofBlocks(blocks: readonly Block[]): string {
  const texts = blocks.map((block) => (block.type === "text" || block.type === "document" ? block.text : undefined));
  return texts.filter((text) => text !== undefined && text !== "").join("\n\n");
}

/** What is copied of an item: the text as it was written, without any decoration. */
export function plainText(item: Item): string {
  switch (item.kind) {
    case "prompt":
      return ofBlocks(item.blocks);
    case "text":
    case "thinking":
      return item.text;
    case "tool":
      return [toolTitle(item.name, item.input), item.result?.text].filter(Boolean).join("\n\n");
    case "question":
      return item.question.title ?? pretty(item.question.request).text;
    case "turn":
      return item.error ?? (item.output === undefined ? item.subtype : pretty(item.output).text);
    case "refusal":
      return [sandboxTexts.refused(item.refusal), item.refusal.command, sandboxTexts.refusedWhy(item.refusal)]
        .filter(Boolean)
        .join("\n");
    case "notice":
      return [item.title, item.detail].filter(Boolean).join("\n");
    case "unknown":
      return pretty(item.raw).text;
  }
}

// A line may be of any length; who looks for a word finds it in the beginning, or with the search over all sessions.
const searchedMost = 200_000;

/** Whether an item holds a text, which is in lower case. */
export function holds(item: Item, wanted: string): boolean {
  const texts = [plainText(item)];
  if (item.kind === "tool") texts.push(item.name, ...Object.values(item.input).filter((value) => typeof value === "string"));
  return texts.some((text) => text.slice(0, searchedMost).toLowerCase().includes(wanted));
}
