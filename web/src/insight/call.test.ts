import { expect, test } from "vitest";
import { inputOf } from "./call";

test.each([
  ["Bash", 'git push "x"', { command: 'git push "x"' }],
  ["Edit", "/a/b", { file_path: "/a/b" }],
  ["mcp__notes__add", '{"text":"x"}', { text: "x" }],
  ["mcp__notes__add", "[1]", undefined],
  ["mcp__notes__add", "null", undefined],
  ["mcp__notes__add", "{", undefined],
])("the input of %s made of %j", (tool, text, want) => {
  expect(inputOf(tool, text)).toEqual(want);
});
