import type { Json } from "../api/types";

/** An object of JSON, read only. */
export type JsonObject = { readonly [name: string]: Json };

const nothing: JsonObject = Object.freeze({});
const none: readonly Json[] = Object.freeze([]);

/** Whether a value is an object of JSON: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Follows names into a value. What an agent writes may have any shape: a name that is not there gives undefined, never an error. */
export function at(value: unknown, ...path: readonly string[]): Json | undefined {
  let here: unknown = value;
  for (const name of path) {
    if (!isObject(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here as Json | undefined;
}

/** The text at a path; empty if there is none. */
export function str(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** The number at a path; undefined if there is none, or none that can be reckoned with. */
export function num(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Whether true stands at a path. */
export function bool(value: unknown, ...path: readonly string[]): boolean {
  return at(value, ...path) === true;
}

/** The object at a path; an empty one if there is none. */
export function obj(value: unknown, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : nothing;
}

/** The array at a path; an empty one if there is none. */
export function arr(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : none;
}

/** The first of some members that is a text with something in it; empty if none is. */
export function firstText(value: unknown, ...names: readonly string[]): string {
  for (const name of names) {
    const text = str(value, name);
    if (text.trim() !== "") return text;
  }
  return "";
}

/** How much of a text is drawn before somebody asks for all of it. */
export const mostShown = 100_000;

/** The beginning of a text that is too long, and how many characters were left out. It does not cut a pair of surrogates in two. */
export function clip(text: string, most: number = mostShown): { text: string; left: number } {
  if (text.length <= most) return { text, left: 0 };
  const last = text.charCodeAt(most - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
  return { text: text.slice(0, end), left: text.length - end };
}

/** A text in one line, for a title. */
export function oneLine(text: string, most = 1000): string {
  return clip(text, most).text.split(/\s+/).filter(Boolean).join(" ");
}

/** Whether a value would be longer as JSON than so many characters, roughly. However deep it is nested, it is looked at without recursion. */
export function isLarger(value: Json, most: number): boolean {
  let size = 0;
  const rest: Json[] = [value];
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    size += typeof one === "string" ? one.length + 2 : 4;
    if (Array.isArray(one)) for (const member of one) rest.push(member);
    else if (isObject(one)) {
      for (const [name, member] of Object.entries(one)) {
        size += name.length + 4;
        rest.push(member);
      }
    }
    if (size > most) return true;
  }
  return false;
}

/** A value as JSON for people, bounded: what is written beyond is not even made. */
export function pretty(value: unknown, most: number = mostShown): { text: string; left: number } {
  let budget = most * 2;
  let json: string | undefined;
  try {
    json = JSON.stringify(
      value,
      (_name, member: unknown) => {
        if (budget <= 0) return undefined;
        budget -= typeof member === "string" ? member.length : 8;
        return typeof member === "string" && member.length > most ? `${clip(member, most).text}…` : member;
      },
      2,
    );
  } catch {
    return { text: "…", left: 0 }; // nested more deeply than the browser can follow
  }
  return clip(json ?? String(value), most);
}
