import type { Json } from "../api/types";
import { sessionsTexts } from "../texts/sessions";
import { visible } from "../ui/visible";

const t = sessionsTexts.adopt;

/** A line of a conversation on disk, as its preview shows it. */
export interface PreviewLine {
  key: string;
  who: "person" | "agent" | "tool";
  text: string;
}

/** How much of a message the preview shows. */
const mostText = 600;

type Fields = { [name: string]: Json };

function fields(value: Json | undefined): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

function short(text: string): string {
  const clean = text.trim();
  return visible(clean.length > mostText ? `${clean.slice(0, mostText)}…` : clean);
}

/** Tags that the CLI wraps its own messages in: nobody has typed those. */
const synthetic = /^\s*<(command-|local-command|system-reminder|task-notification|bash-)/;

/** What the preview shows of a line: nothing of those that are for the CLI alone. */
export function previewLines(lines: readonly Json[], from: number): PreviewLine[] {
  const out: PreviewLine[] = [];
  lines.forEach((line, i) => {
    const entry = fields(line);
    if (!entry || entry.isMeta === true || entry.isSidechain === true) return;
    const role = entry.type === "user" ? "person" : entry.type === "assistant" ? "agent" : undefined;
    if (!role) return;
    const content = fields(entry.message)?.content;
    const blocks: readonly Json[] =
      typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
    blocks.forEach((block, j) => {
      const b = fields(block);
      const key = `${from + i}.${j}`;
      if (b?.type === "text" && typeof b.text === "string" && b.text.trim() && !synthetic.test(b.text)) {
        out.push({ key, who: role, text: short(b.text) });
      } else if (b?.type === "tool_use" && typeof b.name === "string") {
        out.push({ key, who: "tool", text: t.tool(short(b.name)) });
      }
    });
  });
  return out;
}
