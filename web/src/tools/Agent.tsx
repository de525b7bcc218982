import { CornerDownRight, Footprints, ListChecks } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Fold } from "../conversation/Foldable";
import { useLead } from "../conversation/fold";
import { blocksText, contentBlocks } from "../talk/blocks";
import type { Tool } from "../talk/item";
import { arr, bool, num, oneLine, str } from "../talk/json";
import { goesOn, taskOver } from "../talk/task";
import { talkTexts as t } from "../texts/talk";
import { Button } from "../ui/buttons";
import { Markdown } from "../ui/markdown/Markdown";
import { Badge, type Tone } from "../ui/signs";
import { visible } from "../ui/visible";
import css from "./Agent.module.css";
import { isAgent } from "./kinds";
import { Members, Remark } from "./Parts";
import { Result } from "./Result";
import { Scroller } from "./Scroller";

/** How many steps are drawn before somebody asks for the earlier ones: they are not in the virtual list. */
const mostSteps = 20;

/** What of an agent's input is shown elsewhere: in the line above, or folded. */
const shownElsewhere = ["prompt", "description", "subagent_type", "run_in_background"];

/** The body of the card of a call that started a sub-agent: what it was told, what it does, and what it reported. */
export function AgentBody({ item, nested }: { item: Tool; nested: (id: string) => ReactNode }) {
  const prompt = str(item.input, "prompt");
  const except = isAgent(item.name) ? shownElsewhere : prompt === "" ? [] : ["prompt"];
  return (
    <>
      {item.denied !== undefined && <Remark tone="bad">{t.denied(item.denied)}</Remark>}
      {prompt.trim() !== "" && (
        <Fold
          id={`${item.id}/prompt`}
          title={t.agentPrompt}
          hint={beginning(prompt)}
          icon={<CornerDownRight size={14} aria-hidden="true" />}
        >
          <Markdown text={prompt} />
        </Fold>
      )}
      <Members input={item.input} except={except} />
      {item.task && (goesOn(item) || inBackground(item)) && <TaskLine task={item.task} background={inBackground(item)} />}
      {item.state === "running" && item.progress && <Remark tone="warn">{item.progress}</Remark>}
      {isOver(item) ? (
        // What came of it is what one looks for; mostly it is the last step as well.
        <>
          <Report item={item} />
          {item.children.length > 0 && (
            <Fold
              id={`${item.id}/steps`}
              title={t.steps(item.children.length)}
              icon={<Footprints size={14} aria-hidden="true" />}
            >
              <Steps of={item.id} ids={item.children} nested={nested} />
            </Fold>
          )}
        </>
      ) : (
        <Steps of={item.id} ids={item.children} nested={nested} />
      )}
    </>
  );
}

/** Whether a call was, or is, carried on in the background. The CLI tells of a task for others as well that take long. */
export function inBackground(item: Tool): boolean {
  if (item.task?.background || item.input.run_in_background === true) return true;
  return isLaunched(item) || str(item.result?.structured, "backgroundTaskId") !== "";
}

/** Whether the result of an agent's call says only that it was started. */
function isLaunched({ result }: Tool): boolean {
  return bool(result?.structured, "isAsync") || str(result?.structured, "status") === "async_launched";
}

/** Whether the agent has done, or will do no more. */
function isOver(item: Tool): boolean {
  return (item.state === "done" || item.state === "failed") && !goesOn(item);
}

/** How many steps are drawn around one that somebody looks for. */
const around = 10;

/** What the agent does: the newest steps, and those around the one that somebody looks for. */
function Steps({ of, ids, nested }: { of: string; ids: readonly string[]; nested: (id: string) => ReactNode }) {
  const [shown, setShown] = useState(mostSteps);
  const lead = useLead(of);
  if (ids.length === 0) return null;
  const newest = Math.max(ids.length - shown, 0);
  const at = lead === undefined ? -1 : ids.indexOf(lead);
  const [from, to] = at < 0 || at >= newest ? [newest, newest] : [Math.max(at - around, 0), Math.min(at + around, newest)];
  const whole = to === newest; // nothing is left out in between
  const left = whole ? from : newest - to;
  const more = left > 0 && (
    <Button variant="quiet" size="s" onPress={() => setShown(ids.length - (whole ? from : newest) + 100)}>
      {t.earlierSteps(Math.min(left, 100))}
    </Button>
  );
  return (
    <div className={css.steps}>
      {whole && more}
      {ids.slice(from, to).map(nested)}
      {!whole && more}
      {ids.slice(newest).map(nested)}
    </div>
  );
}

/** What the agent reported. One in the background has got a result at once, which says no more than that; its report comes with the end. */
function Report({ item }: { item: Tool }) {
  const { result, task } = item;
  if (!result) return null;
  if (isLaunched(item) && !result.failed) {
    if (!task || goesOn(item) || !task.summary) return null;
    return (
      <Reported use={task.use ?? ""}>
        <Scroller className={css.told} label={t.agentReport}>
          <Markdown text={task.summary} />
        </Scroller>
      </Reported>
    );
  }
  const told = result.structured;
  // The text of the result is for the model: it has marks around the agent's words, and what they cost.
  const words = blocksText(contentBlocks([...arr(told, "content")])).trim();
  return (
    <Reported
      failed={result.failed}
      use={t.agentUse(num(told, "totalToolUseCount"), num(told, "totalTokens"), num(told, "totalDurationMs"))}
    >
      {words === "" || result.failed ? (
        <Result item={item} as="markdown" />
      ) : (
        <Scroller className={css.told} label={t.agentReport}>
          <Markdown text={words} />
        </Scroller>
      )}
    </Reported>
  );
}

function Reported({ failed = false, use, children }: { failed?: boolean; use: string; children: ReactNode }) {
  const caption = failed ? t.agentFailed : t.agentReport;
  return (
    <section className={css.report} aria-label={caption}>
      <p className={css.caption}>
        {caption}
        {use !== "" && <span className={css.use}>{use}</span>}
      </p>
      {children}
    </section>
  );
}

const tones: { readonly [state: string]: Tone } = {
  running: "accent",
  completed: "ok",
  failed: "danger",
  killed: "warn",
  stopped: "warn",
};

/** What goes on in a call: its state as a word, what it has used, and what it does. */
export function TaskLine({ task, background }: { task: NonNullable<Tool["task"]>; background: boolean }) {
  const state = task.state ?? "running";
  const doing = taskOver(task.state) ? "" : task.summary;
  return (
    <p className={css.task}>
      <ListChecks size={14} aria-hidden="true" />
      {background && <span>{t.inBackground}</span>}
      <Badge tone={(Object.hasOwn(tones, state) ? tones[state] : undefined) ?? "neutral"}>
        {(Object.hasOwn(t.taskStates, state) ? t.taskStates[state] : undefined) ?? visible(state)}
      </Badge>
      {task.use && !(taskOver(task.state) && task.summary) && <span className={css.use}>{task.use}</span>}
      {doing && <span className={css.summary}>{visible(oneLine(doing))}</span>}
    </p>
  );
}

function beginning(text: string): string {
  return text.slice(0, 400).trim().split("\n", 1)[0]?.slice(0, 120) ?? "";
}
