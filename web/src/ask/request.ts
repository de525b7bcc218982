import type { Choice, Json, Question } from "../api/types";
import { arr, at, bool, isObject, type JsonObject, str } from "../talk/json";
import { networkAccess } from "../talk/network";

/** What the CLI asks, without the envelope in which it may come. */
export function requestOf(q: Question): JsonObject {
  const inner = at(q.request, "request");
  if (isObject(inner)) return inner;
  return isObject(q.request) ? q.request : {};
}

/** The tool call that a question is about. */
export interface ToolCall {
  readonly tool: string;
  /** What the tool would be given; undefined if the question does not hold it, and then nobody may allow it here. */
  readonly input?: Json;
  /** A hook of ours has brought it, which can allow it once only and cannot stop the turn. */
  readonly hook: boolean;
  /** The CLI does not want it to be allowed for good. */
  readonly once: boolean;
  /** The CLI wants no to be the obvious answer. */
  readonly defaultNo: boolean;
}

export function callOf(q: Question): ToolCall {
  const request = requestOf(q);
  const tool = str(request, "tool_name");
  if (tool !== "") {
    return {
      tool,
      input: at(request, "input"),
      hook: false,
      once: bool(request, "suppress_always_allow_rule"),
      defaultNo: bool(request, "default_to_no"),
    };
  }
  if (str(request, "input", "hook_event_name") === "PreToolUse") {
    return {
      tool: str(request, "input", "tool_name"),
      input: at(request, "input", "tool_input"),
      hook: true,
      once: false,
      defaultNo: false,
    };
  }
  return { tool: q.tool ?? "", hook: false, once: false, defaultNo: false };
}

/** The tool with which an agent goes into plan mode: it is asked about in words of its own. */
export const enterPlanMode = "EnterPlanMode";

/** Whether a call can be allowed for good. */
export function canAlways(call: ToolCall): boolean {
  return !call.hook && !call.once && call.tool !== enterPlanMode;
}

/** Whether what a tool gets can be edited. What a sandbox asks about happens already, and waits. */
export function canEdit(call: ToolCall): boolean {
  return call.input !== undefined && call.tool !== enterPlanMode && call.tool !== networkAccess;
}

/** Whether it is our sandbox that asks about a host. The agent learns nothing of it, only the program that wants to connect. */
export function isOfSandbox(q: Question): boolean {
  return q.request_id.startsWith("sandbox-");
}

/** Whether a tool writes a file: a long one says at its beginning what it is, whereas a command may hide in its last line what it does. */
export function writesFile(tool: string): boolean {
  return tool === "Edit" || tool === "Write" || tool === "MultiEdit" || tool === "NotebookEdit";
}

/** The questions of a choice: as the hub has read them, else from the request itself. */
export function choicesOf(q: Question): readonly Choice[] {
  if (q.choices?.length) return q.choices;
  const found: Choice[] = [];
  for (const each of arr(callOf(q).input, "questions")) {
    const question = str(each, "question");
    if (question === "") continue;
    const options = arr(each, "options")
      .map((o) => ({ label: str(o, "label"), description: str(o, "description"), preview: str(o, "preview") }))
      .filter((o) => o.label !== "");
    found.push({ question, header: str(each, "header"), multiple: bool(each, "multiSelect"), options });
  }
  return found;
}

/** The plan that a review is about; empty if there is none. */
export function planText(q: Question): string {
  return q.plan ? (q.plan.text ?? "") : str(callOf(q).input, "plan");
}

/**
 * Whether two states of a question mean the same to who answers: if not, what was about to be pressed may have been meant for something
 * else.
 */
export function sameMeaning(a: Question, b: Question): boolean {
  if (a === b) return true;
  const meaning = (q: Question) =>
    JSON.stringify([
      q.id,
      q.request,
      planText(q),
      q.plan?.outcomes ?? [],
      q.plan?.bypass ?? false,
      q.plan?.prompts ?? [],
      q.suggestions ?? [],
      q.choices ?? [],
    ]);
  return meaning(a) === meaning(b);
}
