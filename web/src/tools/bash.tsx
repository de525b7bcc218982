import { Terminal } from "lucide-react";
import type { Tool } from "../talk/item";
import { bool, isObject, num, obj, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import type { ToolKind } from "./kind";
import { Output, OutputPeek } from "./Output";
import { Command, Remark } from "./Parts";
import { Blocks, Result, ResultPeek, resultText } from "./Result";

/** What is known of a command that has run. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit?: number;
  readonly interrupted: boolean;
  /** The task that it goes on as. */
  readonly task: string;
  /** The file that has all of its output, if it is more than what is told. */
  readonly file: string;
  readonly remark: string;
}

/** Reads the result of a command: what the CLI tells in parts, else its text. */
export function ranOf(item: Tool): Ran {
  const told = item.result?.structured;
  const text = resultText(item);
  const failure = /^(?:Error: )?Exit code (-?\d+)(?:\n|$)/.exec(text);
  const exit = failure?.[1] === undefined ? num(told, "exitCode") : Number(failure[1]);
  const parts = isObject(told) && typeof told.stdout === "string";
  const silent = /^\((?:Bash completed with no output|no output)\)\s*$/i.test(text);
  return {
    stdout: parts ? str(told, "stdout") : silent ? "" : failure ? text.slice(failure[0].length) : text,
    stderr: parts ? str(told, "stderr") : "",
    ...(exit === undefined ? {} : { exit }),
    interrupted: bool(told, "interrupted"),
    task: str(told, "backgroundTaskId"),
    file: str(told, "persistedOutputPath"),
    remark: str(told, "returnCodeInterpretation"),
  };
}

function RanView({ item }: { item: Tool }) {
  const ran = ranOf(item);
  const failed = item.state === "failed";
  const nothing = ran.stdout.trim() === "" && ran.stderr.trim() === "";
  return (
    <>
      {ran.stdout.trim() !== "" && <Output text={ran.stdout} tone={failed ? "bad" : "plain"} />}
      {ran.stderr.trim() !== "" && <Output text={ran.stderr} label={t.stderr} />}
      <Blocks blocks={item.result?.blocks.filter((block) => block.type !== "text") ?? []} />
      {nothing && ran.task === "" && <Remark>{t.noOutput}</Remark>}
      {ran.interrupted && <Remark tone="warn">{t.interrupted}</Remark>}
      {ran.remark !== "" && <Remark>{ran.remark}</Remark>}
      {ran.task !== "" && !item.task && <Remark>{t.inBackground(ran.task)}</Remark>}
      {ran.file !== "" && <Remark>{t.wholeOutputIn(ran.file)}</Remark>}
    </>
  );
}

function exitOf(item: Tool): string | undefined {
  const { exit, task } = ranOf(item);
  if (task !== "") return t.background;
  return exit === undefined || exit === 0 ? undefined : t.exit(exit);
}

export const bash: ToolKind = {
  icon: Terminal,
  known: true,
  given(input) {
    if (typeof input.command !== "string") return { drawn: [] };
    const about = typeof input.description === "string" ? input.description : "";
    return {
      view: (
        <>
          {about !== "" && <Remark>{about}</Remark>}
          <Command text={input.command} />
        </>
      ),
      drawn: about === "" ? ["command"] : ["command", "description"],
    };
  },
  brief: exitOf,
  result: (item) => (item.state === "denied" ? <Result item={item} /> : <RanView item={item} />),
  peek(item) {
    if (item.state === "denied") return <ResultPeek item={item} />;
    const ran = ranOf(item);
    return <OutputPeek text={ran.stdout.trim() === "" ? ran.stderr : ran.stdout} />;
  },
};

export const powershell: ToolKind = {
  ...bash,
  given(input) {
    if (typeof input.command !== "string") return { drawn: [] };
    return { view: <Command text={input.command} lang="powershell" prompt=">" />, drawn: ["command"] };
  },
};

/** What a command or a task in the background has printed since. */
export const taskOutput: ToolKind = {
  icon: Terminal,
  known: true,
  given: () => ({ drawn: [] }),
  brief(item) {
    const told = item.result?.structured;
    const status = str(told, "status") || str(told, "task", "status");
    const exit = num(told, "exitCode") ?? num(told, "task", "exitCode");
    if (exit !== undefined && exit !== 0) return t.exit(exit);
    return status || undefined;
  },
  result(item) {
    const task = obj(item.result?.structured, "task");
    const told = isObject(item.result?.structured) ? item.result.structured : {};
    const printed = str(task, "output") || [str(told, "stdout"), str(told, "stderr")].filter(Boolean).join("\n");
    if (printed === "") return <Result item={item} />;
    return (
      <>
        {str(task, "description") !== "" && <Remark>{str(task, "description")}</Remark>}
        <Output text={printed} tone={item.state === "failed" ? "bad" : "plain"} />
      </>
    );
  },
};
