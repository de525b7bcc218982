import { describe, expect, it } from "vitest";
import { colourLimit, highlightLines } from "./highlight";
import { languageNamed, languageOf, withNeeded } from "./languages";

const text = (lines: Awaited<ReturnType<typeof highlightLines>>) =>
  lines?.map((line) => line.map((token) => token.text).join("")).join("\n");

describe("highlightLines", () => {
  it("keeps every character of the text", async () => {
    const source = 'package main\n\n// main <b>says</b> & goes\nfunc main() {\n\tprintln("a\\tb", `two\nlines`)\n}\n';
    const lines = await highlightLines(source, "go");
    expect(text(lines)).toBe(source);
    expect(lines?.length).toBe(source.split("\n").length);
  });

  it("gives colours, over lines too", async () => {
    const lines = await highlightLines("/* one\ntwo */\nconst a = 1;", "ts");
    expect(lines?.[0]?.[0]?.cls).toBeDefined();
    expect(lines?.[1]?.[0]?.cls).toBe(lines?.[0]?.[0]?.cls);
    expect(lines?.[2]?.find((token) => token.text === "const")?.cls).toBeDefined();
  });

  it("colours a language within another", async () => {
    const source = '<p class="a">x</p>\n<script>\nconst a = "b";\n</script>\n';
    const lines = await highlightLines(source, "html");
    expect(text(lines)).toBe(source);
    expect(lines?.[2]?.find((token) => token.text === "const")?.cls).toBeDefined();
  });

  it("leaves alone what it does not know and what is too large", async () => {
    expect(await highlightLines("a", "no such language")).toBeUndefined();
    expect(await highlightLines("a", "__proto__")).toBeUndefined();
    expect(await highlightLines("a", undefined)).toBeUndefined();
    expect(await highlightLines("x\n".repeat(colourLimit), "go")).toBeUndefined();
    expect(await highlightLines("x ".repeat(1001), "bash")).toBeUndefined();
    expect(await highlightLines("x ".repeat(1000), "bash")).toHaveLength(1);
    expect(await highlightLines("x".repeat(101), "c")).toBeUndefined();
    expect(await highlightLines("x".repeat(100), "c")).toHaveLength(1);
  });
});

describe("languages", () => {
  it("knows files by their names", () => {
    expect(languageOf("/a/b.test.tsx")).toBe("typescript");
    expect(languageOf("C:\\a\\Makefile")).toBe("makefile");
    expect(languageOf("Dockerfile.dev")).toBe("dockerfile");
    expect(languageOf(".bashrc")).toBe("bash");
    expect(languageOf("/a/LICENSE")).toBeUndefined();
    expect(languageOf("go")).toBeUndefined();
  });

  it("knows names of fences", () => {
    expect(languageNamed("TSX")).toBe("typescript");
    expect(languageNamed("constructor")).toBeUndefined();
  });

  it("has all that a language needs", () => {
    expect(withNeeded("dockerfile")).toEqual(["dockerfile", "bash"]);
    expect(withNeeded("xml")).toContain("graphql");
  });
});
