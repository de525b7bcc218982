import { expect, test } from "vitest";
import { handBackLine, quote } from "./handback";

test.each([
  ["/home/ann/blog", "/home/ann/blog"],
  ["/home/ann/my blog", "'/home/ann/my blog'"],
  ["it's", "'it'\\''s'"],
  ["", "''"],
  ["$(reboot)", "'$(reboot)'"],
  ["a\u001b[31m", `"$(printf '\\141\\033\\133\\063\\061\\155')"`],
  ["é", "'é'"],
])("%j is quoted as %s", (word, quoted) => {
  expect(quote(word)).toBe(quoted);
});

test("the line goes into the folder first", () => {
  expect(handBackLine("/a b", "0b1c", true)).toBe("cd '/a b' && claude --resume 0b1c --fork-session");
});
