import type { Json } from "../api/types";
import { mostShown } from "../talk/json";
import { mostMembers as mostOfInput } from "../tools/Parts";

/** Characters that show nothing, or that change the order in which others are shown, as pairs of the first and the last one. */
const invisible: readonly (readonly [number, number])[] = [
  [0x00, 0x08], // controls, but for tab, line feed and carriage return
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x202a, 0x202e], // these turn the direction, as do those from 2066 on
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const joins = (c: number): boolean => c === 0x200c || c === 0x200d;
const selects = (c: number): boolean => c >= 0xfe00 && c <= 0xfe0f;

/** Whether a character cannot be seen where it stands. */
function isHidden(c: number, before: number, after: number): boolean {
  if (c >= 0x20 && c < 0x7f) return false;
  // Within a line it hides, in some displays, what stands before it.
  if (c === 0x0d) return after !== 0x0a;
  // Joiners and selectors are part of emoji and of some scripts: there they stand behind something that is no Latin letter, and never
  // behind another of their own.
  if (joins(c) || selects(c)) return before < 0x250 || joins(before) || (selects(before) && !joins(c));
  return invisible.some(([first, last]) => c >= first && c <= last);
}

/** Calls what with each character of a text, and whether it is hidden, until that returns true. */
function search(text: string, what: (c: string, hidden: boolean) => boolean): boolean {
  let before = 0;
  for (let i = 0; i < text.length; ) {
    const c = text.codePointAt(i) ?? 0;
    const size = c > 0xffff ? 2 : 1;
    const hidden = isHidden(c, before, text.charCodeAt(i + size));
    if (what(text.slice(i, i + size), hidden)) return true;
    before = c;
    i += size;
  }
  return false;
}

/** Whether a text holds characters that cannot be seen: in what somebody is to allow there may be none without their knowledge. */
export function hasHidden(text: string): boolean {
  // Nearly everything is plain, and may be long: then there is nothing to be looked for sign by sign.
  return /[^\t\n -~]/.test(text) && search(text, (_c, hidden) => hidden);
}

/** Whether a value holds such characters anywhere, in names as well. */
export function holdsHidden(value: Json | undefined): boolean {
  // A list of what is left instead of calls within calls: an agent may have put more levels into it than the browser has room for.
  const rest: (Json | undefined)[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") {
      if (hasHidden(next)) return true;
    } else if (Array.isArray(next)) {
      for (const each of next) rest.push(each);
    } else if (typeof next === "object" && next !== null) {
      for (const [name, each] of Object.entries(next)) rest.push(name, each);
    }
  }
  return false;
}

/** A text with such characters written as their numbers. */
export function revealed(text: string): string {
  let out = "";
  search(text, (c, hidden) => {
    out += hidden ? `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}` : c;
    return false;
  });
  return out;
}

/**
 * Whether a text in Markdown may hold something that is not to be seen once it is drawn, and that the agent reads all the same: comments,
 * attributes, what is left out for safety, and definitions of links.
 */
export function hidesInMarkdown(text: string): boolean {
  return (
    hasHidden(text) ||
    /<[!?]|<(?:script|style|template|title|textarea|noscript|iframe|svg|math|object|head)\b|<[a-z][\w-]*\s[^>]{0,500}=/i.test(
      text,
    ) ||
    /^ {0,3}\[[^\]\n]{1,500}\]:/m.test(text)
  );
}

// What a preview of a tool's input draws without being asked: texts of this length within something, so many members of something, and so
// many levels below a member. It may draw more; whoever allows something must not have to know that.
const mostText = 2_000;
const mostMembers = 20;
const mostLevels = 2;

/** Whether a preview of an input may leave something of it folded or cut, so that all of it has to be shown besides. */
export function mayBeFolded(input: Json): boolean {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return true;
  const members = Object.values(input);
  if (members.length > mostOfInput) return true;
  return members.some((member) => (typeof member === "string" ? member.length > mostShown : folded(member, 0)));
}

function folded(value: Json, level: number): boolean {
  if (typeof value === "string") return value.length > mostText;
  if (typeof value !== "object" || value === null) return false;
  const members = Object.values(value);
  return level > mostLevels || members.length > mostMembers || members.some((member) => folded(member, level + 1));
}

/** Whether an input is so long that even all of it as JSON is cut until somebody asks for the rest. */
export function isTooLong(input: Json): boolean {
  return JSON.stringify(input).length > mostShown;
}
