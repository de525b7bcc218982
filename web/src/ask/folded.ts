import type { Json } from "../api/types";
import { mostShown } from "../talk/json";
import { mostMembers as mostOfInput } from "../tools/Parts";

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
