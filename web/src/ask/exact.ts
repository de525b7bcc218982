import type { Json } from "../api/types";
import { askTexts as t } from "../texts/ask";

/** Why a text cannot be sent as JSON. */
export type JsonProblem = { problem: "syntax"; detail: string } | { problem: "number" } | { problem: "object" };

export type Parsed<T extends Json> = { value: T } | JsonProblem;

/**
 * Whether a value is sent as it is shown. A number beyond what a browser can count with would reach the agent as another one, or as null,
 * and nobody would have approved that.
 */
export function isExact(value: Json): boolean {
  const rest: Json[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === "number") {
      if (!Number.isFinite(next) || Math.abs(next) > Number.MAX_SAFE_INTEGER) return false;
    } else if (Array.isArray(next)) {
      for (const each of next) rest.push(each);
    } else if (typeof next === "object" && next !== null) {
      for (const each of Object.values(next)) rest.push(each);
    }
  }
  return true;
}

/** Reads JSON that somebody has written. */
export function parseJson(text: string): Parsed<Json> {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (e) {
    return { problem: "syntax", detail: e instanceof Error ? e.message : String(e) };
  }
  return isExact(value) ? { value } : { problem: "number" };
}

/** Reads a JSON object that somebody has written. */
export function parseObject(text: string): Parsed<{ [name: string]: Json }> {
  const parsed = parseJson(text);
  if (!("value" in parsed)) return parsed;
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { problem: "object" };
  return { value };
}

/** What is said of a text that cannot be sent. */
export function problemText(problem: JsonProblem): string {
  switch (problem.problem) {
    case "syntax":
      return t.notJson(problem.detail);
    case "number":
      return t.notExact;
    case "object":
      return t.notObject;
  }
}
