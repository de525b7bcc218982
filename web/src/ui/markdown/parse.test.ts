import { describe, expect, it, vi } from "vitest";
import { Growing, parse } from "./parse";

const sample = `# A heading

A paragraph with *words*
over two lines

- a list

  with a paragraph
- and more

\`\`\`go
func main() {

}
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted

Setext
======

1. one
2. two

    indented

The end`;

describe("Growing", () => {
  it.each([1, 2, 3, 7, 50])("comes to the same blocks as reading at once, in steps of %d", (step) => {
    const growing = new Growing();
    for (let i = 0; i < sample.length; i += step) growing.read(sample.slice(0, i));
    const blocks = growing.read(sample);
    expect(blocks.map((b) => b.raw).join("")).toBe(sample);
    expect(blocks.map((b) => b.token.type)).toEqual(parse(sample).map((b) => b.token.type));
  });

  it("keeps what is settled", () => {
    const growing = new Growing();
    const before = growing.read("One\n\nTwo\n\nThr");
    const after = growing.read("One\n\nTwo\n\nThree");
    expect(after[0]).toBe(before[0]);
    expect(after.at(-1)?.raw).toBe("Three");
  });

  it("ends with the same objects, unless a definition changed what they mean", () => {
    const growing = new Growing();
    const before = growing.read("One\n\nTwo [a]\n\nThr");
    expect(growing.finish("One\n\nTwo [a]\n\nThree")[0]).toBe(before[0]);
    const defined = growing.finish("One\n\nTwo [a]\n\n[a]: https://a.example\n");
    expect(JSON.stringify(defined[2])).toContain("https://a.example");
  });

  it("begins anew with another text", () => {
    const growing = new Growing();
    growing.read("One\n\nTwo");
    expect(growing.read("Other").map((b) => b.raw)).toEqual(["Other"]);
  });

  it("copes with line ends that the lexer changes", () => {
    const growing = new Growing();
    growing.read("a\r\n\r\nb\r\n\r\nc");
    expect(growing.read("a\r\n\r\nb\r\n\r\nc\r\n\r\nd").filter((b) => b.token.type === "paragraph").length).toBe(4);
  });

  it("reads a long text that grows in little time for each piece", () => {
    const growing = new Growing();
    let text = "";
    for (let i = 0; i < 2000; i++) {
      text += `Paragraph ${i} with some words in it.\n\n`;
      growing.read(text);
    }
    // Reading all of it each time would take minutes; each piece reads the last block or two.
    const read = growing.read(`${text}x`);
    expect(read.length).toBeGreaterThan(2000);
  }, 30_000);
});

describe("parse", () => {
  it("reads a text alike on a machine that is busy", () => {
    const clock = vi.spyOn(performance, "now");
    let now = 0;
    clock.mockImplementation(() => {
      now += 60_000; // the tab is suspended between any two looks at the clock
      return now;
    });
    try {
      const [plan] = parse("Change `slug.Make` and **test** it, on a suspended tab.");
      expect(JSON.stringify(plan?.token)).toContain('"type":"codespan"');
      expect(JSON.stringify(plan?.token)).toContain('"type":"strong"');
    } finally {
      clock.mockRestore();
    }
  });

  it("formats a long paragraph with many marks, and each of many paragraphs", () => {
    const text = "a `code`, a **bold** word and [a link](https://a.example/), ".repeat(60);
    const blocks = parse(`${text}\n\n`.repeat(50)).filter((block) => block.token.type === "paragraph");
    expect(blocks).toHaveLength(50);
    for (const block of blocks) expect(JSON.stringify(block.token).split('"type":"codespan"')).toHaveLength(61);
  });

  const many = (text: string) => text.repeat(Math.floor(190_000 / text.length));
  it.each([
    ["quotes in quotes", many(">")],
    ["quotes and lists in each other", many("> - ")],
    ["lists in lists", Array.from({ length: 430 }, (_, i) => `${" ".repeat(i * 2)}- a`).join("\n")],
    ["stars around stars", `${"*".repeat(50_000)}a${"*".repeat(50_000)}`],
    ["links that never end", many("[a](")],
    ["words that never are emphasised", `a${many("_a")}`],
    ["stars and lines", many("*a_b")],
    ["paragraphs that cost as much as they may", many(`${"*a **b ".repeat(110)}${"** c* ".repeat(110)}\n\n`)],
    ["emphasis in emphasis", many(`${"*a **b ".repeat(300)}${"** c* ".repeat(300)}\n\n`)],
    ["many such paragraphs", many(`${"_a".repeat(4_000)}\n\n`)],
    ["a table of bars", `|a|\n|-|\n${many("|")}`],
    ["tags that never end", many("<a ")],
    ["comments that never end", many("<!--")],
    ["backticks", Array.from({ length: 600 }, (_, i) => "`".repeat(i)).join(" ")],
  ])("reads %s in bounded time and depth, and loses nothing", (_name, text) => {
    const begun = process.cpuUsage();
    const blocks = parse(text);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(10_000); // of the processor: the machine may be busy
    expect(blocks.map((block) => block.raw).join("")).toBe(text);
    expect(depth(blocks[0]?.token)).toBeLessThan(100);
  });
});

function depth(token: unknown): number {
  if (typeof token !== "object" || token === null) return 0;
  const { tokens, items } = token as { tokens?: unknown[]; items?: unknown[] };
  return 1 + Math.max(0, ...[...(tokens ?? []), ...(items ?? [])].slice(0, 1000).map(depth));
}
