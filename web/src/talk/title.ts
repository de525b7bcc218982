import { talkTexts as t } from "../texts/talk";
import { arr, clip, firstText, type JsonObject, num, oneLine, str } from "./json";

/** What tells a person most about a call, the best first. */
const telling = [
  "command",
  "file_path",
  "notebook_path",
  "pattern",
  "url",
  "query",
  "skill",
  "description",
  "subject",
  "prompt",
  "path",
  "code",
];

/** The server and the tool of a name such as mcp__tickets__create; undefined if it is none. */
export function mcpName(name: string): { server: string; tool: string } | undefined {
  const match = /^mcp__(.+?)__(.+)$/s.exec(name);
  return match?.[1] !== undefined && match[2] !== undefined ? { server: match[1], tool: match[2] } : undefined;
}

/** A tool's name for people: "tickets: create" for a tool of an MCP server. */
export function toolName(name: string): string {
  const mcp = mcpName(name);
  return mcp ? `${mcp.server}: ${mcp.tool}` : name;
}

/** Says in one line what a call is about, without the tool's name: "go test ./...". Empty if there is nothing to say. */
export function toolTitle(name: string, input: JsonObject): string {
  const mcp = mcpName(name);
  const about = oneLine(builtinTitle(name, input));
  if (!mcp) return about;
  return about === "" ? toolName(name) : `${toolName(name)}, ${about}`;
}

function builtinTitle(name: string, input: JsonObject): string {
  const members = Object.keys(input);
  // The question that follows says it.
  if (members.length === 0 || name === "AskUserQuestion" || name === "ExitPlanMode") return "";
  if (Array.isArray(input.todos)) return todosTitle(input);
  const about = firstText(input, ...telling);
  switch (name) {
    case "Grep":
    case "Glob": {
      const where = firstText(input, "path", "glob");
      return where === "" ? about : `${about} in ${where}`;
    }
    case "Read": {
      const from = num(input, "offset");
      const count = num(input, "limit");
      if (from === undefined && count === undefined) return about;
      return `${about}:${from ?? 1}${count === undefined ? "" : `-${(from ?? 1) + count - 1}`}`;
    }
    case "TaskUpdate":
    case "TaskGet":
      return `#${firstText(input, "taskId", "task_id")} ${firstText(input, "status", "subject")}`;
    case "TaskOutput":
    case "BashOutput":
    case "KillShell":
    case "KillBash":
    case "TaskStop":
      return firstText(input, "task_id", "bash_id", "shell_id") || about;
    case "Task":
    case "Agent": {
      const kind = firstText(input, "subagent_type");
      return kind === "" ? about : `${kind}: ${about}`;
    }
    case "LSP":
      return [str(input, "operation"), firstText(input, "filePath", "file_path"), firstText(input, "query")]
        .filter(Boolean)
        .join(" ");
    case "SendMessage":
      return [str(input, "to") && `to ${str(input, "to")}`, firstText(input, "summary", "message")].filter(Boolean).join(": ");
  }
  return about === "" ? allOf(input) : about;
}

/** Sums up a list of what is to do. */
function todosTitle(input: JsonObject): string {
  let done = 0;
  let current = "";
  const list = arr(input, "todos");
  for (const todo of list) {
    const status = str(todo, "status");
    if (status === "completed") done++;
    else if (status === "in_progress") current = str(todo, "activeForm") || str(todo, "content");
  }
  return t.todo(done, list.length, current);
}

/** All of an input, where no member tells more than the others. */
function allOf(input: JsonObject): string {
  let text = "";
  for (const [name, value] of Object.entries(input)) {
    const shown = typeof value === "string" ? value : typeof value === "object" && value !== null ? "…" : String(value);
    text += `${text === "" ? "" : ", "}${name}: ${clip(shown, 200).text}`;
    if (text.length > 1000) break;
  }
  return text;
}
