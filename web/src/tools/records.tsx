import { MessageCircleQuestion, MessageSquare, Map as PlanIcon, Plug, Sparkles, Wrench } from "lucide-react";
import type { Tool } from "../talk/item";
import { arr, at, obj, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Markdown } from "../ui/markdown/Markdown";
import { visible } from "../ui/visible";
import { JsonTree } from "./JsonTree";
import type { ToolKind } from "./kind";
import { Long, Members, Remark } from "./Parts";
import { Blocks, Result, ResultPeek } from "./Result";
import css from "./records.module.css";
import { Scroller } from "./Scroller";

/** A tool of which nothing is known: its input by name, its result as text. */
export const generic: ToolKind = {
  icon: Wrench,
  given: () => ({ drawn: [] }),
  result: (item) => <Result item={item} as="data" />,
};

/** A tool of an MCP server. */
export const mcp: ToolKind = {
  icon: Plug,
  given: () => ({ drawn: [] }),
  result(item) {
    const structured = at(item.result?.structured, "structuredContent");
    if (item.state !== "done" || typeof structured !== "object" || structured === null) return <Result item={item} as="data" />;
    return (
      <>
        <Scroller className={css.data} label={t.output}>
          <JsonTree value={structured} />
        </Scroller>
        <Blocks blocks={item.result?.blocks.filter((block) => block.type !== "text") ?? []} />
      </>
    );
  },
};

interface Asked {
  readonly question: string;
  readonly answer: string;
}

/** What was asked, and what was answered. */
export function askedOf(item: Tool): readonly Asked[] {
  const answers = obj(item.result?.structured, "answers");
  return arr(item.input, "questions")
    .slice(0, 20)
    .map((entry) => {
      const question = str(entry, "question");
      const answer = at(answers, question);
      return { question, answer: typeof answer === "string" ? answer : answer === undefined ? "" : JSON.stringify(answer) };
    });
}

function Asked({ item }: { item: Tool }) {
  const asked = askedOf(item);
  const answered = asked.some((entry) => entry.answer !== "");
  return (
    <>
      <dl className={css.asked}>
        {asked.map((entry, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two questions may have the same words
          <div key={i}>
            <dt>{visible(entry.question)}</dt>
            {entry.answer !== "" && <dd>{visible(entry.answer)}</dd>}
          </div>
        ))}
      </dl>
      {!answered && item.result && <Result item={item} />}
    </>
  );
}

/** The question itself is asked by a card of its own: this is what is left of it. */
export const askUser: ToolKind = {
  icon: MessageCircleQuestion,
  given: () => ({ drawn: [] }),
  brief: (item) => (item.state === "asking" ? t.waitsForAnswer : undefined),
  whole: (item) => (askedOf(item).length > 0 ? <Asked item={item} /> : undefined),
  peek: (item) => (askedOf(item).some((entry) => entry.answer !== "") ? <Asked item={item} /> : <ResultPeek item={item} />),
};

export const plan: ToolKind = {
  icon: PlanIcon,
  given: () => ({ drawn: [] }), // as it is written: Markdown hides where links lead
  brief: (item) => (item.state === "done" ? t.planApproved : undefined),
  whole(item) {
    // What was approved may be another plan than the one that was put forward.
    const plan = (item.state === "done" && str(item.result?.structured, "plan")) || str(item.input, "plan");
    if (plan === "") return undefined;
    return (
      <>
        <Markdown text={plan} />
        {item.state !== "done" && item.result && <Result item={item} />}
      </>
    );
  },
  peek: (item) => (item.state === "done" ? null : <ResultPeek item={item} />),
};

export const skill: ToolKind = {
  icon: Sparkles,
  known: true,
  given: () => ({ drawn: [] }),
  result: (item) => <Result item={item} as="markdown" />,
  peek: () => null,
};

export const message: ToolKind = {
  icon: MessageSquare,
  known: true,
  // Plainly: Markdown hides where links lead, and whoever allows it must see all of it.
  given(input) {
    const [to, text] = [str(input, "to"), str(input, "message")];
    if (text === "") return { drawn: [] };
    return {
      view: (
        <>
          {to !== "" && <Remark>{t.to(to)}</Remark>}
          <Long text={text} />
        </>
      ),
      drawn: to === "" ? ["message"] : ["message", "to"],
    };
  },
};

/** The names and descriptions of deferred tools that were found. */
export const toolSearch: ToolKind = {
  icon: Wrench,
  known: true,
  given: () => ({ drawn: [] }),
  brief(item) {
    const matches = arr(item.result?.structured, "matches").length;
    return matches > 0 ? t.results(matches) : undefined;
  },
  result(item) {
    const matches = arr(item.result?.structured, "matches").filter((name) => typeof name === "string");
    return matches.length > 0 ? <Members input={{ [t.tools]: matches.join(", ") }} /> : <Result item={item} as="data" />;
  },
  peek: () => null,
};
