import { describe, expect, it } from "vitest";
import { pieces } from "./Marked";

describe("pieces", () => {
  it("counts code points", () => {
    expect(pieces("😀 pear", [{ from: 2, to: 6 }])).toEqual([
      { text: "😀 ", marked: false },
      { text: "pear", marked: true },
    ]);
  });

  it("puts marks right that overlap, run backwards or lie outside", () => {
    const marks = [
      { from: 4, to: 99 },
      { from: 1, to: 3 },
      { from: 2, to: 4 },
      { from: 3, to: 1 },
      { from: -5, to: 0 },
    ];
    const cut = pieces("abcdef", marks);
    expect(cut.map((p) => p.text).join("")).toBe("abcdef");
    expect(cut).toEqual([
      { text: "a", marked: false },
      { text: "bc", marked: true },
      { text: "d", marked: true },
      { text: "ef", marked: true },
    ]);
  });

  it("leaves a text without marks whole", () => {
    expect(pieces("x", null)).toEqual([{ text: "x", marked: false }]);
    expect(pieces("", undefined)).toEqual([]);
  });
});
