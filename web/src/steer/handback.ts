/**
 * Writes a word so that a shell reads it as one. What does something to a terminal, such as an escape in the name of a folder, is spelled
 * out. The same as `switchboard handback` writes.
 */
export function quote(word: string): string {
  if (/[\p{C}\p{Zl}\p{Zp}]|[^\S ]/u.test(word)) {
    const bytes = [...new TextEncoder().encode(word)].map((b) => `\\${b.toString(8).padStart(3, "0")}`).join("");
    return `"$(printf '${bytes}')"`;
  }
  if (/^[-\w=:/.,@%+]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command, as a shell takes it, that goes on with a conversation in a terminal. The CLI finds it only from its own folder. */
export function handBackLine(dir: string, conversation: string, fork = false): string {
  return `cd ${quote(dir)} && claude --resume ${quote(conversation)}${fork ? " --fork-session" : ""}`;
}
