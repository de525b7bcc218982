import { ChevronRight } from "lucide-react";
import { memo, type ReactNode, useId, useMemo } from "react";
import { useFold } from "../conversation/fold";
import type { OpenSession } from "../store/hub";
import type { Tool } from "../talk/item";
import { type JsonObject, oneLine } from "../talk/json";
import { goesOn } from "../talk/task";
import { toolName } from "../talk/title";
import { toolTexts as t } from "../texts/tools";
import { classes } from "../ui/classes";
import { formatDuration } from "../ui/format";
import { useNow } from "../ui/hooks";
import { visible } from "../ui/visible";
import { Actions } from "./Actions";
import { AgentBody, inBackground, TaskLine } from "./Agent";
import { lastLines } from "./excerpt";
import type { ToolKind } from "./kind";
import { isAgent, kindOf } from "./kinds";
import { Output } from "./Output";
import { Members, Remark } from "./Parts";
import { readPartial } from "./partial";
import { Refusals } from "./Refusal";
import { Result, ResultPeek, resultText } from "./Result";
import { StateMark } from "./StateMark";
import { Title } from "./Title";
import css from "./ToolCard.module.css";

/** A tool's call and what it gave: a line and the first of its output when it is done, all of it while it runs or has failed. */
export const ToolCard = memo(function ToolCard(props: { session?: OpenSession; item: Tool; nested?: (id: string) => ReactNode }) {
  const { session, item, nested } = props;
  const kind = kindOf(item.name);
  const state = stateOf(item);
  const [open, setOpen] = useFold(item.id, state === "writing" || state === "running" || state === "failed");
  const body = useId();
  const input = useInput(item);
  const peek = open ? null : peekOf(kind, item, () => setOpen(true));
  const Icon = kind.icon;
  return (
    <div
      className={classes(css.card, state === "failed" && css.failed, (state === "running" || state === "asking") && css.active)}
    >
      <div className={css.head}>
        <button type="button" className={css.toggle} aria-expanded={open} aria-controls={body} onClick={() => setOpen(!open)}>
          <ChevronRight className={classes(css.arrow, open && css.turned)} size={14} aria-hidden="true" />
          <Icon className={css.icon} size={15} aria-hidden="true" />
          <span className={css.name}>{nameOf(item.name)}</span>
          <Title session={session} item={item} input={input} open={open} />
          <span className={css.after}>
            <Brief kind={kind} item={item} />
            <Elapsed item={item} />
            <StateMark state={state} />
          </span>
        </button>
        <Actions session={session} item={item} />
      </div>
      {item.refusals && <Refusals refusals={item.refusals} />}
      <div id={body} className={classes(open ? css.body : css.peek)} hidden={!open && peek === null}>
        {open ? <Body kind={kind} item={item} nested={nested} /> : peek}
      </div>
    </div>
  );
});

/** How a call is going. One whose work goes on in the background has got its result long before it is done. */
function stateOf(item: Tool): Tool["state"] {
  return item.state === "done" && goesOn(item) ? "running" : item.state;
}

/** The name of a tool for people: a few have one that says more than the agent's. */
function nameOf(name: string): string {
  return (Object.hasOwn(t.names, name) && t.names[name]) || visible(oneLine(toolName(name), 200)) || "?";
}

/** The input, or as much of it as is written: what tells of the call stands at its beginning. */
function useInput(item: Tool): JsonObject {
  const begin = Object.keys(item.input).length > 0 ? undefined : item.inputText?.slice(0, 4_000);
  return useMemo(() => (begin === undefined ? item.input : readPartial(begin)), [item.input, begin]);
}

function peekOf(kind: ToolKind, item: Tool, open: () => void): ReactNode {
  const state = stateOf(item);
  // What the model is told of a call that was stopped says nothing to people.
  if (state !== "done" && state !== "denied") return null;
  if (isAgent(item.name) || item.children.length > 0) return null;
  if (kind.peek) return kind.peek(item, open);
  return resultText(item).trim() === "" ? null : <ResultPeek item={item} />;
}

function Brief({ kind, item }: { kind: ToolKind; item: Tool }) {
  const state = stateOf(item);
  const words = state === "writing" || state === "running" ? undefined : kind.brief?.(item);
  if (item.children.length > 0) return <span className={css.brief}>{t.steps(item.children.length)}</span>;
  return words === undefined || words === null ? null : (
    <span className={css.brief}>{typeof words === "string" ? visible(words) : words}</span>
  );
}

function Elapsed({ item }: { item: Tool }) {
  if (stateOf(item) === "running") return <Running item={item} />;
  const ms = item.started && item.ended ? Date.parse(item.ended) - Date.parse(item.started) - (item.waited ?? 0) : Number.NaN;
  // What took no time needs no word about it.
  return ms >= 1000 && ["done", "failed", "stopped"].includes(item.state) ? (
    <span className={css.elapsed}>{formatDuration(ms)}</span>
  ) : null;
}

/** How long a call has been running. The clock stands still while people are waited for. */
function Running({ item }: { item: Tool }) {
  const now = useNow(1000);
  const since = item.started === undefined ? Number.NaN : Date.parse(item.started);
  // What goes on in the background waits for nobody.
  const ran = item.result ? now - since : (item.waitsSince ?? now) - since - (item.waited ?? 0);
  const ms = Number.isNaN(since) ? (item.elapsed ?? 0) * 1000 : ran;
  return ms >= 1000 ? <span className={css.elapsed}>{formatDuration(Math.floor(ms / 1000) * 1000)}</span> : null;
}

function Body({ kind, item, nested }: { kind: ToolKind; item: Tool; nested?: (id: string) => ReactNode }) {
  if (item.state === "writing") return <Writing text={item.inputText ?? ""} />;
  if (isAgent(item.name) || item.children.length > 0) {
    return <AgentBody item={item} nested={nested ?? (() => null)} />;
  }
  const whole = kind.whole?.(item);
  const given = kind.given(item.input);
  const plain = Object.fromEntries(
    Object.entries(item.input).filter(([, value]) => value !== false && value !== null && value !== ""),
  );
  return (
    <>
      {item.denied && !resultText(item).includes(item.denied) && <Remark tone="bad">{t.denied(item.denied)}</Remark>}
      {item.rule && <Remark>{item.rule}</Remark>}
      {whole ?? given.view}
      {(whole === undefined || given.drawn.length > 0) && <Members input={plain} except={given.drawn} compact={kind.known} />}
      {item.state === "running" && item.progress && <Output text={item.progress} />}
      {item.task && item.state !== "running" && (goesOn(item) || inBackground(item)) && <TaskLine task={item.task} background />}
      {whole === undefined && item.result && (kind.result ? kind.result(item) : <Result item={item} />)}
    </>
  );
}

/** What is being written of a call: the end of its longest text, plainly, for it changes many times a second. */
function Writing({ text }: { text: string }) {
  const shown = useMemo(() => {
    if (text.length > 200_000) return lastLines(text, 12).text;
    const texts = Object.values(readPartial(text)).filter((value) => typeof value === "string");
    const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), "");
    return lastLines(longest, 12).text;
  }, [text]);
  if (shown === "") return null;
  return <pre className={css.writing}>{visible(shown)}</pre>;
}
