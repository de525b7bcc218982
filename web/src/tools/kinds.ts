import { Bot, Moon, Table2, Workflow } from "lucide-react";
import { networkAccess } from "../talk/network";
import { mcpName } from "../talk/title";
import { bash, powershell, taskOutput } from "./bash";
import { edit, notebook, write } from "./edit";
import { glob, grep, list, lsp } from "./find";
import type { ToolKind } from "./kind";
import { task, taskList, todoWrite } from "./lists";
import { network } from "./network";
import { read } from "./read";
import { askUser, generic, mcp, message, plan, skill, toolSearch } from "./records";
import { webFetch, webSearch } from "./web";

const agent: ToolKind = { ...generic, icon: Bot };

/** By the names of tools. */
export const kinds: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ["Bash", bash],
  ["Monitor", bash],
  ["PowerShell", powershell],
  ["BashOutput", taskOutput],
  ["KillShell", taskOutput],
  ["KillBash", taskOutput],
  ["TaskOutput", taskOutput],
  ["TaskStop", taskOutput],
  ["Edit", edit],
  ["MultiEdit", edit],
  ["Write", write],
  ["NotebookEdit", notebook],
  ["Read", read],
  ["NotebookRead", { ...generic, icon: read.icon }],
  ["Grep", grep],
  ["Glob", glob],
  ["LS", list],
  ["LSP", lsp],
  ["TodoWrite", todoWrite],
  ["TodoRead", taskList],
  ["TaskCreate", task],
  ["TaskUpdate", task],
  ["TaskGet", task],
  ["TaskList", taskList],
  ["WebFetch", webFetch],
  ["web_fetch", webFetch],
  ["WebSearch", webSearch],
  ["web_search", webSearch],
  [networkAccess, network],
  ["Task", agent],
  ["Agent", agent],
  ["AskUserQuestion", askUser],
  ["ExitPlanMode", plan],
  ["EnterPlanMode", { ...skill, icon: plan.icon }],
  ["Skill", skill],
  ["SlashCommand", skill],
  ["SendMessage", message],
  ["ToolSearch", toolSearch],
  ["StructuredOutput", { ...generic, icon: Table2 }],
  ["Workflow", { ...generic, icon: Workflow }],
  ["ScheduleWakeup", { ...generic, icon: Moon }],
  ["ListMcpResourcesTool", mcp],
  ["ReadMcpResourceTool", mcp],
]);

/** How the calls of a tool are shown, by its name. */
export function kindOf(name: string): ToolKind {
  return kinds.get(name) ?? (mcpName(name) ? mcp : generic);
}

/** Whether a call starts a sub-agent, whose conversation is shown within it. */
export function isAgent(name: string): boolean {
  return name === "Task" || name === "Agent";
}
