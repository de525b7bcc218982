// A conversation of any length, as a CLI would have written it.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../src/api/types";
import type { Hub } from "./stage";

/** What the n-th message says. */
export const words = (n: number) => `Message ${n}: ${"the quick brown fox jumps over the lazy dog. ".repeat(1 + (n % 7)).trim()}`;

function code(n: number): string {
  return `## Part ${n}\n\nSome **bold** words and \`code\`.\n\n- one\n- two\n\n\`\`\`go\nfunc f${n}() int {\n\treturn ${n}\n}\n\`\`\`\n`;
}

function assistant(id: string, block: object): object {
  return {
    type: "assistant",
    message: { id, type: "message", role: "assistant", model: "simulated", content: [block], usage: {} },
  };
}

/** So many lines: texts, code, tools with results, prompts and thoughts. */
function lines(count: number): object[] {
  const all: object[] = [];
  for (let n = 0; all.length < count; n++) {
    all.push(assistant(`m${n}`, { type: "text", text: n % 10 === 3 ? code(n) : words(n) }));
    if (n % 2 === 0) {
      all.push(assistant(`t${n}`, { type: "tool_use", id: `u${n}`, name: "Bash", input: { command: `echo ${n}` } }));
      all.push({
        type: "user",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: `u${n}`, content: `out ${n}` }] },
      });
    }
    if (n % 4 === 1) all.push(assistant(`h${n}`, { type: "thinking", thinking: `What comes after ${n}`, signature: "s" }));
    if (n % 4 === 3) all.push({ type: "user", message: { role: "user", content: [{ type: "text", text: `Prompt ${n}` }] } });
  }
  return all.slice(0, count).map((line) => ({ ...line, uuid: randomUUID(), session_id: "s", parent_tool_use_id: null }));
}

/** A session with a conversation of so many lines, which has ended its turn. */
export async function longSession(hub: Hub, count: number): Promise<Session> {
  const file = join(hub.folder, "long.jsonl");
  writeFileSync(
    file,
    `${lines(count)
      .map((line) => JSON.stringify(line))
      .join("\n")}\n`,
  );
  const session = await hub.session("A long conversation", `@play 1 ${file}`);
  await hub.await(session.id, "idle");
  return session;
}

/** An answer that takes a while: so many paragraphs, which come in dozens of pieces. */
export function longAnswer(paragraphs: number, last: string): string {
  const text = Array.from(
    { length: paragraphs },
    (_, n) => `Paragraph ${n} of an answer that goes on with **some** more words.\n\n`,
  ).join("");
  return `@say ${JSON.stringify(text + last)}`;
}
