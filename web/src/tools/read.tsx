import { FileText } from "lucide-react";
import { useMemo } from "react";
import type { Tool } from "../talk/item";
import { num, obj, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Listing } from "../ui/diff/Diff";
import { countLines } from "./excerpt";
import type { ToolKind } from "./kind";
import { Remark, WholePath } from "./Parts";
import { Blocks, Result, resultText } from "./Result";

/** What was read of a file. */
interface Reading {
  readonly text: string;
  readonly start: number;
  readonly total?: number;
}

/** The lines that were read: as the CLI tells them, else from the numbers before them in the text. Undefined if it is no text. */
export function readingOf(item: Tool): Reading | undefined {
  const told = item.result?.structured;
  const file = obj(told, "file");
  if (str(told, "type") === "text" && typeof file.content === "string") {
    return { text: file.content, start: num(file, "startLine") ?? 1, total: num(file, "totalLines") };
  }
  const text = resultText(item);
  const first = /^\s*(\d+)[→\t]/.exec(text);
  if (!first) return undefined;
  // What the CLI tells the model behind the file is none of its lines.
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !/^\s*\d+[→\t]/.test(line));
  const numbered = end < 0 ? lines : lines.slice(0, end);
  return { text: numbered.map((line) => line.replace(/^\s*\d+[→\t]/, "")).join("\n"), start: Number(first[1]) };
}

function View({ item }: { item: Tool }) {
  const reading = useMemo(() => readingOf(item), [item]);
  const path = str(item.input, "file_path");
  const images = item.result?.blocks.filter((block) => block.type !== "text") ?? [];
  if (images.length > 0) return <Blocks blocks={images} />;
  if (str(item.result?.structured, "type") === "pdf") {
    return <Remark>{t.pdf(num(item.result?.structured, "file", "originalSize") ?? 0)}</Remark>;
  }
  if (!reading) return <Result item={item} />;
  if (reading.text === "") return <Remark>{t.emptyFile}</Remark>;
  return <Listing path={path} text={reading.text} start={reading.start} most={200} />;
}

export const read: ToolKind = {
  icon: FileText,
  known: true,
  given(input) {
    const path = str(input, "file_path");
    return path === "" ? { drawn: [] } : { view: <WholePath path={path} />, drawn: ["file_path"] };
  },
  brief(item) {
    if (item.state !== "done") return undefined;
    const kind = str(item.result?.structured, "type");
    if (kind === "image" || item.result?.blocks.some((block) => block.type === "image")) return t.image;
    if (kind === "pdf") return "PDF";
    const total = num(item.result?.structured, "file", "totalLines");
    const lines = num(item.result?.structured, "file", "numLines") ?? countLines(resultText(item));
    return total !== undefined && total > lines ? t.linesOf(lines, total) : t.lines(lines);
  },
  whole: (item) => (item.state === "done" && str(item.input, "file_path") !== "" ? <View item={item} /> : undefined),
  peek(item) {
    const images = item.result?.blocks.filter((block) => block.type === "image") ?? [];
    return images.length > 0 ? <Blocks blocks={images} /> : null;
  },
};
