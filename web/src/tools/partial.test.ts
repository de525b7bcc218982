import { describe, expect, it } from "vitest";
import { readPartial } from "./partial";

describe("readPartial", () => {
  it.each([
    ["", {}],
    ["{", {}],
    ['{"com', {}],
    ['{"command"', {}],
    ['{"command":', {}],
    ['{"command":"go te', { command: "go te" }],
    ['{"command":"a\\', { command: "a" }],
    ['{"command":"a\\u00', { command: "a" }],
    ['{"command":"go test","timeout":12', { command: "go test", timeout: 12 }],
    ['{"command":"go test","run":tr', { command: "go test" }],
    ['{"edits":[{"old_string":"a","new_string":"b"},{"old_str', { edits: [{ old_string: "a", new_string: "b" }, {}] }],
    ['{"a":{"b":[1,2', { a: { b: [1, 2] } }],
    ["no JSON", {}],
    ["[1]", {}],
  ])("reads %s", (text, want) => {
    const got = JSON.parse(JSON.stringify(readPartial(text), (_, v: unknown) => (v === null ? undefined : v))) as unknown;
    expect(got).toEqual(want);
  });

  it("never throws, wherever a text is cut", () => {
    const whole = JSON.stringify({ path: 'a\\b"c\n', list: [1, { x: [true, null, "é😀"] }], n: -1.5e9 });
    for (let end = 0; end <= whole.length; end++) readPartial(whole.slice(0, end));
    expect(readPartial(whole)).toEqual(JSON.parse(whole));
  });
});
