import { describe, expect, it } from "vitest";
import { allLines, countLines, firstLines, lastLines, trimmed } from "./excerpt";

const ten = Array.from({ length: 10 }, (_, i) => `line ${i + 1}`).join("\n");

describe("excerpts", () => {
  it("counts lines", () => {
    expect([countLines(""), countLines("a"), countLines("a\n"), countLines("a\nb"), countLines(ten)]).toEqual([0, 1, 1, 2, 10]);
  });

  it("takes the first lines and says how many follow", () => {
    expect(firstLines(ten, 3)).toEqual({ text: "line 1\nline 2\nline 3", before: 0, after: 7, cut: 0 });
    expect(firstLines("a\nb", 3)).toEqual({ text: "a\nb", before: 0, after: 0, cut: 0 });
    expect(firstLines("a\n\n \nb\nc", 2)).toEqual({ text: "a\nb", before: 0, after: 1, cut: 0 });
    expect(firstLines("x".repeat(1000), 3)).toMatchObject({ text: `${"x".repeat(300)}…`, cut: 700 });
  });

  it("takes the last lines and says how many stand before", () => {
    expect(lastLines(ten, 2)).toEqual({ text: "line 9\nline 10", before: 8, after: 0, cut: 0 });
    expect(lastLines(ten, 10)).toEqual({ text: ten, before: 0, after: 0, cut: 0 });
    expect(lastLines("", 10)).toEqual({ text: "", before: 0, after: 0, cut: 0 });
  });

  it("does not take all of a line of megabytes", () => {
    const huge = `begin\n${"x".repeat(5_000_000)}`;
    expect(lastLines(huge, 200).text.length).toBeLessThanOrEqual(8_001);
    expect(allLines(huge).text.length).toBeLessThanOrEqual(1_000_001);
    expect(allLines(huge).cut).toBe(huge.length - 1_000_000);
  });

  it("leaves the indentation of the first line", () => {
    expect(trimmed("\n \n  a\n\n")).toBe("  a");
  });
});
