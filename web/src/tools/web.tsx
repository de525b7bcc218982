import { Globe, Search } from "lucide-react";
import type { Tool } from "../talk/item";
import { arr, num, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Markdown } from "../ui/markdown/Markdown";
import type { ToolKind } from "./kind";
import { Long, Remark, SafeLink } from "./Parts";
import { Result, ResultPeek, resultText } from "./Result";
import css from "./web.module.css";

export interface Hit {
  readonly title: string;
  readonly url: string;
}

const mostHits = 100;

/** What a search found, and what was said about it. */
export function hitsOf(item: Tool): { hits: readonly Hit[]; said: string } {
  const hits: Hit[] = [];
  const said: string[] = [];
  for (const result of arr(item.result?.structured, "results")) {
    if (typeof result === "string") said.push(result);
    for (const hit of arr(result, "content")) {
      const url = str(hit, "url");
      if (url !== "" && hits.length < mostHits) hits.push({ title: str(hit, "title") || url, url });
    }
  }
  return { hits, said: said.join("\n\n").trim() };
}

function Found({ item }: { item: Tool }) {
  const { hits, said } = hitsOf(item);
  if (hits.length === 0) return <Result item={item} as="markdown" />;
  return (
    <>
      <ol className={css.hits}>
        {hits.map((hit, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a page may be found twice
          <li key={i} className={css.hit}>
            <SafeLink href={hit.url}>{hit.title}</SafeLink>
            <span className={css.host}>{hostOf(hit.url)}</span>
          </li>
        ))}
      </ol>
      {said !== "" && <Markdown text={said} />}
    </>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

export const webFetch: ToolKind = {
  icon: Globe,
  known: true,
  given(input) {
    const [url, prompt] = [str(input, "url"), str(input, "prompt")];
    if (url === "") return { drawn: [] };
    return {
      view: (
        <>
          <SafeLink href={url} />
          {hostOf(url) !== "" && !url.toLowerCase().includes(hostOf(url)) && (
            <Remark tone="warn">{t.otherHost(hostOf(url))}</Remark>
          )}
          {prompt !== "" && <Long text={prompt} />}
        </>
      ),
      drawn: prompt === "" ? ["url"] : ["url", "prompt"],
    };
  },
  brief(item) {
    const code = num(item.result?.structured, "code");
    return code === undefined ? undefined : [String(code), str(item.result?.structured, "codeText")].filter(Boolean).join(" ");
  },
  result: (item) => <Result item={item} as="markdown" />,
};

export const webSearch: ToolKind = {
  icon: Search,
  known: true,
  given(input) {
    const query = str(input, "query");
    return query === "" ? { drawn: [] } : { view: <Remark>{query}</Remark>, drawn: ["query"] };
  },
  brief(item) {
    const { hits } = hitsOf(item);
    return hits.length > 0 ? t.results(hits.length) : undefined;
  },
  result: (item) => (item.state === "done" ? <Found item={item} /> : <Result item={item} />),
  peek(item) {
    return hitsOf(item).hits.length > 0 || resultText(item) === "" ? null : <ResultPeek item={item} />;
  },
};
