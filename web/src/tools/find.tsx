import { FolderSearch, FolderTree, Radar, TextSearch } from "lucide-react";
import { useMemo, useState } from "react";
import type { Tool } from "../talk/item";
import { arr, clip, num, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Button } from "../ui/buttons";
import { visible } from "../ui/visible";
import { countLines } from "./excerpt";
import css from "./find.module.css";
import type { ToolKind } from "./kind";
import { Remark } from "./Parts";
import { Result, resultText } from "./Result";

const mostFiles = 100;
const mostMatches = 300;

interface Match {
  readonly line: number;
  readonly text: string;
  /** It is around a match and none itself. */
  readonly around: boolean;
}

export interface Found {
  readonly path: string;
  readonly matches: readonly Match[];
}

/** Groups lines such as path:12:text by their files. Undefined if they are not of this form. */
export function groupMatches(text: string): readonly Found[] | undefined {
  const files: { path: string; matches: Match[] }[] = [];
  let odd = 0;
  let read = 0;
  for (const line of text.split("\n")) {
    if (line === "" || line === "--") continue;
    const path = files.at(-1)?.path;
    // Around a match stands path-12-text. A path may have such signs in it, too: it is taken for what the last match had.
    const near = path !== undefined && line.startsWith(`${path}-`) ? /^(\d+)-(.*)$/.exec(line.slice(path.length + 1)) : null;
    const match = near ? null : /^((?:[A-Za-z]:)?[^:\n]+):(\d+):(.*)$/.exec(line);
    read++;
    if (near) {
      files.at(-1)?.matches.push({ line: Number(near[1]), text: near[2] ?? "", around: true });
    } else if (match?.[1] !== undefined) {
      const found: Match = { line: Number(match[2]), text: match[3] ?? "", around: false };
      if (path === match[1]) files.at(-1)?.matches.push(found);
      else files.push({ path: match[1], matches: [found] });
    } else {
      odd++;
    }
  }
  return read > 0 && odd === 0 ? files : undefined;
}

function Files({ paths }: { paths: readonly string[] }) {
  const [most, setMost] = useState(mostFiles);
  return (
    <div>
      <ul className={css.files}>
        {paths.slice(0, most).map((path, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a file may be listed more than once
          <li key={i}>{visible(path)}</li>
        ))}
      </ul>
      {paths.length > most && (
        <Button variant="quiet" size="s" onPress={() => setMost(most + 1_000)}>
          {t.moreFiles(paths.length - most)}
        </Button>
      )}
    </div>
  );
}

/** A line that was found: of one as long as a file, its beginning. */
function clipped(line: string): string {
  const { text, left } = clip(line, 500);
  return left > 0 ? `${text}…` : text;
}

function Matches({ item }: { item: Tool }) {
  const text = str(item.result?.structured, "content") || resultText(item);
  const [most, setMost] = useState(mostMatches);
  const files = useMemo(() => groupMatches(text), [text]);
  if (!files) return <Result item={item} />;
  const total = files.reduce((sum, file) => sum + file.matches.length, 0);
  let left = most;
  return (
    <div className={css.matches}>
      {files.map((file, f) => {
        const shown = file.matches.slice(0, Math.max(0, left));
        left -= file.matches.length;
        if (shown.length === 0) return null;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a file may be found more than once
          <section key={f}>
            <h4 className={css.file}>{visible(file.path)}</h4>
            {shown.map((match, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line may be found more than once
              <div key={i} className={match.around ? css.around : css.match}>
                <span className={css.number}>{match.line}</span>
                <code className={css.text}>{visible(clipped(match.text))}</code>
              </div>
            ))}
          </section>
        );
      })}
      {total > most && (
        <Button variant="quiet" size="s" onPress={() => setMost(most + 2_000)}>
          {t.moreLinesFound(total - most)}
        </Button>
      )}
    </div>
  );
}

function names(item: Tool): readonly string[] {
  return arr(item.result?.structured, "filenames").filter((name) => typeof name === "string");
}

/** Lines of a text that are paths and nothing else: what tools print that only list files. */
function listed(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^(?:Found \d+|No (?:files|matches) found)/.test(line));
}

function brief(item: Tool): string | undefined {
  if (item.state !== "done") return undefined;
  const told = item.result?.structured;
  const text = resultText(item);
  if (/^No (?:files|matches) found/.test(text)) return t.nothingFound;
  const matches = num(told, "numMatches");
  const files = num(told, "numFiles") ?? names(item).length;
  if (matches !== undefined && matches > 0) return t.matches(matches);
  if (str(told, "mode") === "content") return t.lines(num(told, "numLines") ?? countLines(text));
  if (files > 0) return t.files(files);
  const found = /^Found (\d+) (?:total )?(file|occurrence|match)/.exec(text);
  if (found?.[2]) return found[2] === "file" ? t.files(Number(found[1])) : t.matches(Number(found[1]));
  return t.lines(listed(text).length);
}

export const grep: ToolKind = {
  icon: TextSearch,
  known: true,
  given: () => ({ drawn: [] }),
  brief,
  result(item) {
    if (item.state !== "done") return <Result item={item} />;
    const mode = str(item.result?.structured, "mode") || str(item.input, "output_mode") || "files_with_matches";
    if (mode === "files_with_matches" && names(item).length > 0) return <Files paths={names(item)} />;
    return mode === "content" ? <Matches item={item} /> : <Result item={item} />;
  },
  peek: () => null,
};

export const glob: ToolKind = {
  ...grep,
  icon: FolderSearch,
  result(item) {
    if (item.state !== "done" || names(item).length === 0) return <Result item={item} />;
    return (
      <>
        <Files paths={names(item)} />
        {item.result?.structured &&
          arr(item.result.structured, "filenames").length < (num(item.result.structured, "numFiles") ?? 0) && (
            <Remark>{t.notAllFiles}</Remark>
          )}
      </>
    );
  },
};

export const list: ToolKind = { ...grep, icon: FolderTree, result: (item) => <Result item={item} />, brief: undefined };

export const lsp: ToolKind = {
  ...list,
  icon: Radar,
  brief(item) {
    const results = num(item.result?.structured, "resultCount");
    return item.state === "done" && results !== undefined ? t.results(results) : undefined;
  },
};
