import { talkTexts as t } from "../texts/talk";
import { blocksPlain } from "./blocks";
import type { Entry, TaskTold } from "./entry";
import type { Item, Notice, Prompt, Tool, Turn } from "./item";
import { obj, oneLine } from "./json";
import { toolKey } from "./keys";
import { retryTitle } from "./notices";
import type { Part } from "./part";

/** The item that an entry is, with what depends on others: what is being written within it, and entries that its row tells of as well. */
export function viewEntry(entry: Entry, part: Part, writing: readonly string[], joined: readonly Entry[]): Item {
  const { told } = entry;
  const more = [...entry.more, ...joined.flatMap((other) => [other.event, ...other.more])].filter(Boolean);
  const base = {
    id: entry.id,
    ...(entry.event !== "" && { event: entry.event }),
    ...(more.length > 0 && { more }),
    ...(entry.time !== "" && { time: entry.time }),
    ...(told.parent && { parent: toolKey(told.parent) }),
    ...(told.by && { by: told.by }),
  };
  switch (entry.kind) {
    case "prompt":
      return viewPrompt(base, entry);
    case "text":
      return {
        ...base,
        kind: "text",
        text: told.text ?? "",
        ...(told.line && { uuid: told.line }),
        ...(told.model && { model: told.model }),
        ...(told.failed && { failed: true }),
      };
    case "thinking":
      return { ...base, kind: "thinking", text: told.text ?? "", ...(told.redacted && { redacted: true }) };
    case "tool":
      return viewTool(base, entry, part, writing);
    case "question":
      if (told.question) return { ...base, kind: "question", question: told.question };
      break;
    case "refusal":
      if (told.refusal) return { ...base, kind: "refusal", refusal: told.refusal };
      break;
    case "turn":
      if (told.turn) {
        const { total: _total, ...turn } = told.turn;
        const usd = part.tree.cost(entry, part.begun);
        return { ...turn, ...base, kind: "turn", ...(usd !== undefined && { usd }), ...interruptOf(joined) };
      }
      break;
    case "notice":
      if (told.task) return { ...base, kind: "notice", ...taskNotice(told.task, part.taskState(entry)) };
      if (told.notice)
        return { ...base, kind: "notice", ...told.notice, ...(told.title && { title: told.title }), ...noticeOf(joined) };
      break;
    case "unknown":
      break;
  }
  return { ...base, kind: "unknown", type: told.unknown?.type ?? entry.kind, raw: told.unknown?.raw ?? null };
}

/** What others say about the end of a turn: that it was interrupted, and by whom. */
function interruptOf(joined: readonly Entry[]): Pick<Turn, "by"> & { interrupted?: boolean } {
  if (!joined.some((entry) => entry.told.notice || entry.told.question)) return {};
  const by = joined.findLast((entry) => entry.told.notice?.topic === "interrupt" && entry.told.by)?.told.by;
  return { interrupted: true, ...(by && { by }) };
}

/** What others say about a notice: that it was so again, and why the last time, or who did it. */
function noticeOf(joined: readonly Entry[]): Partial<Pick<Notice, "by" | "title" | "data">> {
  const last = joined.at(-1)?.told;
  if (last?.notice?.topic === "retry") {
    return {
      title: retryTitle(obj(last.notice.data), joined.length + 1),
      ...(last.notice.data !== undefined && { data: last.notice.data }),
    };
  }
  return last?.by ? { by: last.by } : {};
}

/** What came so far that nobody has to be told of. */
const arrived = new Set(["", "picked_up"]);

function viewPrompt(base: Omit<Prompt, "kind" | "blocks">, entry: Entry): Prompt {
  const { said, written, line, message, echoed, synthetic } = entry.told;
  const state = message?.state ?? "";
  const lost = state === "taken_back" || state === "not_delivered" || state === "unknown";
  const blocks = said && said.length > 0 ? said : (written ?? []);
  return {
    ...base,
    kind: "prompt",
    blocks: blocks.length > 0 ? blocks : [{ type: "text", text: blocksPlain(blocks) }],
    ...(line && { uuid: line }),
    ...(message?.clientId && { clientId: message.clientId }),
    ...((lost || (!echoed && !arrived.has(state))) && { delivery: state }),
    ...(message?.reason && { reason: message.reason }),
    ...(synthetic && { synthetic: true }),
  };
}

function viewTool(
  base: Omit<Tool, "kind" | "use" | "name" | "input" | "state" | "children">,
  entry: Entry,
  part: Part,
  writing: readonly string[],
): Tool {
  const { told } = entry;
  const background = part.taskOf(told.use);
  const task = background?.told.task;
  const state = background ? part.taskState(background) : "";
  const started = told.call?.started ?? entry.time;
  const how = toolState(entry, part);
  const timed = told.ended !== undefined || how === "running" || how === "asking";
  const refusals = entry.children.flatMap((child) => child.told.refusal ?? []);
  const waited = timed ? part.waits.of(entry, started, told.ended) : { ms: 0 };
  return {
    ...base,
    kind: "tool",
    use: told.use ?? "",
    name: told.call?.name || told.weakName || "",
    input: told.call?.input ?? {},
    state: how,
    children: [...entry.children.filter((child) => child.kind !== "refusal").map((child) => child.id), ...writing],
    ...(told.result && { result: told.result }),
    ...(started !== "" && { started }),
    ...(told.ended && { ended: told.ended }),
    ...(waited.ms > 0 && { waited: waited.ms }),
    ...(waited.since !== undefined && { waitsSince: waited.since }),
    ...(told.elapsed !== undefined && { elapsed: told.elapsed }),
    ...(told.progress && { progress: told.progress }),
    ...(task && {
      task: {
        id: task.id,
        ...(task.kind && { kind: task.kind }),
        ...(task.description && { description: task.description }),
        ...(state !== "" && { state }),
        ...(task.summary && { summary: task.summary }),
        ...(task.use && { use: task.use }),
        ...(task.background && { background: true }),
      },
    }),
    ...(told.asked && { question: told.asked.id }),
    ...(told.denied !== undefined && { denied: told.denied }),
    ...(told.rule && { rule: told.rule }),
    ...(refusals.length > 0 && { refusals }),
  };
}

function toolState(entry: Entry, part: Part): Tool["state"] {
  const { denied, result, asked } = entry.told;
  if (denied !== undefined) return "denied";
  // The CLI tells the model that the call failed; for people it never ran.
  if (result?.failed && asked?.cancelled) return "stopped";
  if (result) return result.failed ? "failed" : "done";
  if (part.stopped(entry)) return "stopped";
  return asked?.open ? "asking" : "running";
}

/** What is said of a task that no tool call tells of. */
function taskNotice(task: TaskTold, state: string): Pick<Notice, "topic" | "level" | "title" | "detail"> {
  const detail = [task.use, task.summary].filter(Boolean).join("\n");
  return {
    topic: "task",
    level: state === "failed" ? "warn" : "info",
    title: t.task(task.description || task.id, state, oneLine(task.reason ?? "")),
    ...(detail !== "" && { detail }),
  };
}
