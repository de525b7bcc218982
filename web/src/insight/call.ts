import type { Json } from "../api/types";

/** Tools that people ask about. Others can be typed. */
export const tools = ["Bash", "Read", "Edit", "Write", "WebFetch", "WebSearch", "Glob", "Grep", "Task"] as const;

interface MainMember {
  name: string;
  label: "command" | "path" | "url";
}

/** The member of a tool's input that rules look at, so that nobody must write JSON to ask about it. */
export function mainMember(tool: string): MainMember | undefined {
  switch (tool) {
    case "Bash":
      return { name: "command", label: "command" };
    case "Read":
    case "Edit":
    case "Write":
      return { name: "file_path", label: "path" };
    case "WebFetch":
      return { name: "url", label: "url" };
    default:
      return undefined;
  }
}

/** The input that a text stands for: the main member of a tool that has one, else a JSON object. Undefined if it is none. */
export function inputOf(tool: string, text: string): { [name: string]: Json } | undefined {
  const member = mainMember(tool);
  if (member) return { [member.name]: text };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { [name: string]: Json }) : undefined;
  } catch {
    return undefined;
  }
}
