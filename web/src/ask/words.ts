import type { Question } from "../api/types";
import { oneLine, str } from "../talk/json";
import { connectionOf, networkAccess } from "../talk/network";
import { mcpName } from "../talk/title";
import { askTexts as t } from "../texts/ask";
import { sandboxTexts } from "../texts/sandbox";
import { visible } from "../ui/visible";
import { isAnswerable } from "./answers";
import { formOf } from "./form";
import type { Outcome } from "./plan";
import { callOf, choicesOf, enterPlanMode, planText, requestOf, type ToolCall } from "./request";

/** What is asked, as a question that can be answered with yes or no where that is possible: "Run this command?". */
export function headline(q: Question): string {
  switch (q.kind) {
    case "permission":
      return visible(ofCall(callOf(q), q.tool ?? ""));
    case "choice":
      return isAnswerable(q) ? t.choiceTitle(choicesOf(q).length) : t.choiceMissing;
    case "plan":
      return planText(q) === "" ? t.planNone : t.planTitle;
    case "form": {
      const form = formOf(q);
      return visible(t.formTitle(form.server, form.message));
    }
    case "dialog":
      return visible(t.dialogTitle(str(requestOf(q), "dialog_kind")));
    default:
      return visible(t.unknownTitle(q.kind));
  }
}

function ofCall(call: ToolCall, told: string): string {
  const file = nameOfFile(str(call.input, "file_path") || str(call.input, "notebook_path"));
  switch (call.tool) {
    case enterPlanMode:
      return t.mayPlan;
    case networkAccess: {
      const { host, port } = connectionOf(call.input);
      return host === "" ? sandboxTexts.connectAny : sandboxTexts.connect(host, port);
    }
    case "Bash":
    case "PowerShell":
      return t.runCommand;
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      if (file) return t.editFile(file);
      break;
    case "Write":
      if (file) return t.writeFile(file);
      break;
    case "Read":
      if (file) return t.readFile(file);
      break;
    case "Glob":
    case "Grep":
    case "LS":
      return t.searchFiles;
    case "WebFetch": {
      const host = hostOf(str(call.input, "url"));
      return host ? t.fetchHost(host) : t.fetchPage;
    }
    case "WebSearch":
      return t.searchWeb;
    case "Task":
    case "Agent":
      return t.startAgent;
    case "Skill": {
      const skill = oneLine(str(call.input, "skill"), 60);
      if (skill) return t.skillTool(skill);
    }
  }
  const mcp = mcpName(call.tool);
  return mcp ? t.serverTool(oneLine(mcp.tool, 60), oneLine(mcp.server, 60)) : t.anyTool(oneLine(call.tool || told, 60));
}

/** The last part of a path: the whole of it is shown below. */
function nameOfFile(path: string): string {
  return oneLine(path.split(/[\\/]/).findLast((part) => part !== "") ?? "", 60);
}

/** The host of an address as it is looked up; empty if it is no address of the web. */
function hostOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) ? oneLine(parsed.host, 80) : "";
}

/** What a question is about, in one line. */
function aboutQuestion(q: Question): string {
  const what =
    q.kind === "choice" ? (q.choices?.[0]?.question ?? q.title) : q.kind === "form" ? q.description || q.title : q.title;
  return visible(oneLine(what || q.tool || "", 200));
}

/** What was asked, in a line. */
export function asked(q: Question): string {
  const what = aboutQuestion(q);
  if (q.kind === "permission" && q.tool === networkAccess) {
    const { host, port } = connectionOf(callOf(q).input);
    if (host !== "") return visible(sandboxTexts.askedConnect(host, port));
  }
  if (q.kind === "permission") return t.askedToUse(visible(q.tool ?? ""), what);
  if (q.kind === "plan") return t.askedPlan;
  return t.asked(t.rowKind[q.kind] ?? t.rowOther, what);
}

/** What an outcome of a plan review is called, for this question. */
export function outcomeLabel(q: Question, outcome: string, bypass: boolean): string {
  const known: readonly string[] = ["fresh", "accept_edits", "ask", "revise", "reject", "outline"];
  if (!known.includes(outcome)) return outcome; // one of tomorrow
  return t.outcome(outcome as Outcome, { percent: q.plan?.context_percent, bypass, none: planText(q) === "" });
}

/** Says in one line how a question was settled, by whom, and what the agent was told. me is the name of this device. */
export function outcomeOf(q: Question, me?: string): string {
  const text = [settledBy(q, me)];
  if (q.state === "answered_too_late") text.push(`, ${t.tooLate}`);
  const why = q.answer?.message || (bySandbox(q) ? "" : q.reason);
  if (why) text.push(`: ${why}`);
  return text.join("");
}

function settledBy(q: Question, me?: string): string {
  if (q.answer) return t.by(decided(q), who(q, me));
  if (q.state === "cancelled") return q.by || q.from === "hub" ? t.by(t.said.takenBack, who(q, me)) : t.said.takenBack;
  return t.by(t.said.other, who(q, me));
}

/** Whether a command was allowed because its sandbox holds it back: no rule says so, and it is so for every command. */
function bySandbox(q: Question): boolean {
  return q.from === "hub" && q.rule?.scope === "sandbox";
}

function who(q: Question, me?: string): string {
  if (bySandbox(q)) return sandboxTexts.itself;
  if (q.from === "hub" && q.rule && q.rule.decision !== "ask") return t.byRule(q.rule.rule);
  if (q.by) return q.by === me ? t.you : q.by;
  if (q.from === "hub") return t.byHub;
  return q.from ? t.byKind(q.from) : t.someone;
}

/** What was answered, in a word or two. */
function decided(q: Question): string {
  const a = q.answer;
  if (!a) return t.said.other;
  if (a.outcome) return t.said.outcome(outcomeLabel(q, a.outcome, a.mode === "bypassPermissions"));
  switch (a.decision) {
    case "allow":
      if (q.kind === "choice") return t.said.answered;
      if (a.always) return t.said.allowAlways;
      return a.input === undefined ? t.said.allow : t.said.allowEdited;
    case "deny":
      if (a.interrupt) return t.said.denyStop;
      return q.kind === "choice" ? t.said.skipped : t.said.deny;
    case "accept":
      return t.said.accept;
    case "decline":
      return t.said.decline;
    case "choose":
      return t.said.choose;
    case "cancel":
      return t.said.cancel;
    default:
      return t.said.other;
  }
}

/** How a settled question is meant to look: what was let happen, what was not, and what nobody decided. */
export function outcomeTone(q: Question): "ok" | "danger" | "neutral" {
  const a = q.answer;
  if (!a || q.state === "cancelled") return "neutral";
  if (a.decision === "allow" || a.decision === "accept" || a.decision === "choose") return "ok";
  if (a.outcome === "fresh" || a.outcome === "accept_edits" || a.outcome === "ask") return "ok";
  if (a.decision === "deny" || a.decision === "decline" || a.outcome === "reject") return "danger";
  return "neutral";
}
