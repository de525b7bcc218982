import type { Command } from "../steer/told";

/** What stands before the cursor and can be completed. */
export interface Word {
  readonly kind: "command" | "file";
  /** Where it begins, with its slash or its @. */
  readonly from: number;
  /** What is written of it, without them. */
  readonly text: string;
}

/** Something that a word could become. */
export interface Offer {
  readonly label: string;
  readonly hint: string;
  /** What is written instead of the word. */
  readonly insert: string;
  /** It is a folder: what is in it is offered next. */
  readonly folder?: boolean;
}

export const mostOffers = 50;

/** The command or @path that the cursor stands behind. A command is one only at the very beginning of the text. */
export function wordAt(text: string, pos: number): Word | undefined {
  const before = text.slice(0, pos);
  if (before.startsWith("/") && !/\s/.test(before)) return { kind: "command", from: 0, text: before.slice(1) };
  const at = before.lastIndexOf("@");
  if (at < 0 || (at > 0 && !/[\s(]/.test(before.charAt(at - 1)))) return undefined; // no @, or an address of electronic mail
  const word = before.slice(at + 1);
  if (word.startsWith('"')) {
    const path = word.slice(1);
    return /["\n]/.test(path) ? undefined : { kind: "file", from: at, text: path };
  }
  return /\s/.test(word) ? undefined : { kind: "file", from: at, text: word };
}

/** The commands that fit what is written: the one of that name, those that begin so, then those that have it somewhere in their name. */
export function offerCommands(word: string, commands: readonly Command[]): readonly Offer[] {
  const wanted = word.toLowerCase();
  const begin: Command[] = [];
  const contain: Command[] = [];
  for (const c of commands) {
    const name = c.name.toLowerCase();
    if (name === wanted) begin.unshift(c);
    else if (name.startsWith(wanted)) begin.push(c);
    else if (wanted.length > 1 && name.includes(wanted)) contain.push(c);
  }
  return [...begin, ...contain].slice(0, mostOffers).map((c) => ({
    label: `/${c.name}`,
    hint: [c.args, c.hint].filter(Boolean).join(" · "),
    insert: `/${c.name} `,
  }));
}

/**
 * The paths that fit what is written, each once, in the order in which they are given. Those that begin so come first. Those that were
 * suggested for this very word fit it, whether or not they hold it: an agent knows files by a few of their letters.
 */
export function offerFiles(word: string, paths: readonly string[], suggested: readonly string[] = []): readonly Offer[] {
  const wanted = word.toLowerCase();
  const begin: string[] = [];
  const contain: string[] = [];
  for (const path of new Set(paths)) {
    const lower = path.toLowerCase();
    const name = lower.slice(lower.replace(/\/$/, "").lastIndexOf("/") + 1);
    if (lower.startsWith(wanted) || name.startsWith(wanted)) begin.push(path);
    else if (lower.includes(wanted)) contain.push(path);
  }
  // What stands there already comes first, so that enter can send it.
  const whole = paths.includes(word) || suggested.includes(word) ? [word] : [];
  return [...new Set([...whole, ...suggested, ...begin, ...contain].filter(isWritable))].slice(0, mostOffers).map((path) => {
    const folder = path.endsWith("/");
    const quoted = /\s/.test(path);
    return {
      label: path,
      hint: "",
      folder,
      insert: `@${quoted ? '"' : ""}${path}${quoted && !folder ? '"' : ""}${folder ? "" : " "}`,
    };
  });
}

/** Whether a path can be written in a text. */
function isWritable(path: string): boolean {
  return path !== "" && path.length <= 4096 && !/[\p{Cc}"]/u.test(path);
}

/** The text and the cursor after a word has become what was offered. */
export function complete(text: string, pos: number, word: Word, offer: Offer): { text: string; pos: number } {
  const rest = text.slice(pos);
  // A space is there already where somebody completes in the middle of a sentence.
  const insert = offer.insert.endsWith(" ") && /^\s/.test(rest) ? offer.insert.slice(0, -1) : offer.insert;
  return { text: text.slice(0, word.from) + insert + rest, pos: word.from + insert.length };
}

/** Whether what is offered stands there already: enter then sends instead of completing. */
export function isWhole(text: string, pos: number, word: Word, offer: Offer): boolean {
  return text.slice(word.from, pos) === offer.insert.trimEnd();
}
