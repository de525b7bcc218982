import { isObject, type JsonObject } from "../talk/json";

const nothing: JsonObject = Object.freeze({});

/**
 * Reads JSON of which only the beginning is there, as far as it is: what is open is closed, and a value that has not begun is left out.
 * What cannot be read gives an empty object.
 */
export function readPartial(text: string): JsonObject {
  const open: string[] = [];
  let inString = false;
  let whole = 0; // up to here it can be closed
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (inString) {
      if (sign === "\\") i += text[i + 1] === "u" ? 5 : 1;
      else if (sign === '"') inString = false;
      if (i < text.length) whole = i + 1;
      continue;
    }
    if (sign === '"') inString = true;
    else if (sign === "{") open.push("}");
    else if (sign === "[") open.push("]");
    else if (sign === "}" || sign === "]") open.pop();
    if (sign !== "," && sign !== ":") whole = i + 1;
  }
  const closing = [...open].reverse().join("");
  const begun = text.slice(0, whole);
  // A string at the end may be a value or a name without one, and a word such as tru may be cut off: the first that can be read counts.
  for (const attempt of inString
    ? [`${begun}"${closing}`, `${begun}":null${closing}`]
    : [begun + closing, `${begun}:null${closing}`, withoutLast(begun) + closing]) {
    try {
      const value: unknown = JSON.parse(attempt);
      if (isObject(value)) return value;
    } catch {
      // The next attempt.
    }
  }
  return nothing;
}

/** JSON without its last member, which is cut off in its middle. */
function withoutLast(text: string): string {
  return text.replace(/,?\s*(?:"(?:[^"\\]|\\.)*"\s*:)?\s*[^,:"{}[\]]*$/, "");
}
