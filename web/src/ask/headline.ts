import type { Question } from "../api/types";
import { oneLine, str } from "../talk/json";
import { mcpName } from "../talk/title";
import { askTexts as t } from "../texts/ask";
import { visible } from "../ui/diff";
import { isAnswerable } from "./answers";
import { formOf } from "./form";
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
