import type { Json } from "../api/types";
import type { Block } from "./item";
import { isObject, obj, str } from "./json";

/** How many blocks of one line are shown. */
export const mostBlocks = 2000;

/** Reads content as the CLI writes it: a text, or a list of blocks. Results of tools are no content: they belong to their tools. */
export function contentBlocks(content: Json | undefined): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (isObject(content)) return [contentBlock(content)]; // such as an error of one of the API's own tools
  if (!Array.isArray(content)) return [];
  const blocks: Block[] = [];
  for (const raw of content.slice(0, mostBlocks)) {
    if (typeof raw === "string") blocks.push({ type: "text", text: raw });
    else if (str(raw, "type") !== "tool_result") blocks.push(contentBlock(raw));
  }
  return blocks;
}

function contentBlock(raw: Json): Block {
  const source = obj(raw, "source");
  switch (str(raw, "type")) {
    case "text":
      return { type: "text", text: str(raw, "text") };
    case "image": {
      // The API has a source; MCP servers write the data beside the type.
      const data = str(source, "data") || str(raw, "data");
      const url = str(source, "url");
      return {
        type: "image",
        mediaType: str(source, "media_type") || str(raw, "mimeType"),
        ...(data !== "" && { data }),
        ...(url !== "" && { url }),
      };
    }
    case "document": {
      const mediaType = str(source, "media_type");
      const title = str(raw, "title");
      const data = str(source, "data");
      const plain = str(source, "type") === "text";
      return {
        type: "document",
        ...(mediaType !== "" && { mediaType }),
        ...(title !== "" && { title }),
        ...(plain ? { text: data } : data !== "" && { data }),
      };
    }
    default:
      return { type: "other", raw };
  }
}

/** The text of blocks, without what cannot be read. */
export function blocksText(blocks: readonly Block[]): string {
  const texts: string[] = [];
  for (const block of blocks) if (block.type === "text") texts.push(block.text);
  return texts.join("\n");
}

/** The text of blocks, with the names of what cannot be read. */
export function blocksPlain(blocks: readonly Block[]): string {
  return blocks.map(blockPlain).join("\n");
}

function blockPlain(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return "[image]";
    case "document":
      return `${`[document ${block.title ?? ""}`.trim()}]`;
    case "other":
      switch (str(block.raw, "type")) {
        case "search_result":
          return "[search result]";
        case "tool_reference":
          return `[tool ${str(block.raw, "tool_name")}]`;
        default:
          return `[${isObject(block.raw) ? str(block.raw, "type") : typeof block.raw}]`;
      }
  }
}
