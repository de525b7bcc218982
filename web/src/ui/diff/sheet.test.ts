import { describe, expect, it } from "vitest";
import { visible } from "../visible";
import { runs } from "./Diff";
import { compare, readHunks, type Sheet, sheetOf, words } from "./sheet";

function drawn(sheet: Sheet | undefined): string[] {
  return (sheet?.hunks ?? []).flat().map((r) => `${r.old || ""}|${r.new || ""}|${r.sign}${r.text}`);
}

describe("compare", () => {
  it("numbers lines on both sides and counts what changes", () => {
    const sheet = compare("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
    expect(drawn(sheet)).toEqual(["1|1| a", "2||-b", "|2|+B", "3|3| c", "4|4| d", "|5|+e"]);
    expect([sheet?.added, sheet?.removed]).toEqual([2, 1]);
  });

  it("makes hunks of changes that are far from each other", () => {
    const before = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    const after = before.map((l, i) => (i === 2 || i === 35 ? `${l} changed` : l));
    const sheet = compare(before.join("\n"), after.join("\n"));
    expect(sheet?.hunks).toHaveLength(2);
    expect(sheet?.hunks[1]?.[0]?.old).toBe(33);
  });

  it("has nothing to show for equal texts, and knows new files", () => {
    expect(compare("same", "same")?.hunks).toEqual([]);
    expect(drawn(compare("", "one\ntwo\n"))).toEqual(["|1|+one", "|2|+two"]);
  });

  it("says that a line feed is missing at the end", () => {
    expect(drawn(compare("a\n", "a"))).toContain("||\\No newline at end of file");
    expect(drawn(compare("a", "b"))).toEqual(["1||-a", "|1|+b"]); // parts of a file
  });

  it("shows when line ends change, and only then", () => {
    expect(drawn(compare("a\r\nb\r\n", "a\nb\n"))).toEqual(["1||-a␍", "2||-b␍", "|1|+a", "|2|+b"]);
    expect(drawn(compare("a\r\nb\r\n", "a\r\nc\r\n"))).toEqual(["1|1| a", "2||-b", "|2|+c"]);
    expect(drawn(compare("a\r\nb", "c"))).toEqual(["1||-a", "2||-b", "|1|+c"]);
  });

  it("bears one line in the place of very many", () => {
    const many = Array.from({ length: 200_000 }, (_, i) => `${i % 7}`);
    const sheet = sheetOf([{ oldStart: 1, newStart: 1, lines: ["-a", ...many.map((line) => `+${line}`)] }]);
    expect([sheet.added, sheet.removed]).toEqual([200_000, 1]);
  });

  it("does not compare texts of megabytes", () => {
    expect(compare("x".repeat(2_000_000), "y")).toBeUndefined();
  });

  it("is bounded in time for texts that have nothing in common", () => {
    const text = (sign: string) => Array.from({ length: 30_000 }, (_, i) => `${sign}${i * 7919}`).join("\n");
    const before = process.cpuUsage();
    const sheet = compare(text("a"), text("b"));
    expect([sheet?.added, sheet?.removed]).toEqual([30_000, 30_000]);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000); // of the processor: the machine may be busy
  });
});

describe("readHunks", () => {
  it("leaves out what is no hunk", () => {
    expect(readHunks(undefined)).toEqual([]);
    expect(readHunks("no")).toEqual([]);
    expect(readHunks([null, 3, { lines: "no" }, { lines: [1, null] }, { lines: ["+a"] }])).toEqual([
      { oldStart: 1, newStart: 1, lines: ["+a"] },
    ]);
  });

  it("shows lines that a patch has on both sides as unchanged", () => {
    const sheet = sheetOf(readHunks([{ oldStart: 7, newStart: 7, lines: ["-a", "-b", "+a", "+c"] }]));
    expect(drawn(sheet)).toEqual(["7|7| a", "8||-b", "|8|+c"]);
    expect([sheet.added, sheet.removed]).toEqual([1, 1]);
  });

  it("does not let a line feed within a line look like another line", () => {
    expect(drawn(sheetOf(readHunks([{ lines: ["+a\n-b"] }])))).toEqual(["|1|+a␊-b"]);
  });
});

describe("words", () => {
  it("marks what differs", () => {
    const before = "const limit = 10;";
    const after = "const limit = 200;";
    const marks = words(before, after);
    expect(marks?.before.map(([a, b]) => before.slice(a, b))).toEqual(["10"]);
    expect(marks?.after.map(([a, b]) => after.slice(a, b))).toEqual(["200"]);
  });

  it("marks nothing in lines that have little in common", () => {
    expect(words("return nil", "for (;;) { spin() }")).toBeUndefined();
  });
});

describe("runs", () => {
  it("cuts tokens at the edges of marks and keeps every letter", () => {
    const tokens = [{ text: "const ", cls: "keyword" }, { text: "limit = " }, { text: "200", cls: "number" }, { text: ";" }];
    const cut = runs(tokens, [
      [3, 8],
      [14, 16],
    ]);
    expect(cut.map((r) => [r.marked, r.tokens.map((token) => token.text).join("")])).toEqual([
      [false, "con"],
      [true, "st li"],
      [false, "mit = "],
      [true, "20"],
      [false, "0;"],
    ]);
    expect(cut[1]?.tokens[0]).toEqual({ text: "st ", cls: "keyword" });
  });

  it("leaves a line without marks as it is", () => {
    const tokens = [{ text: "a" }];
    expect(runs(tokens, undefined)).toEqual([{ marked: false, tokens }]);
  });
});

describe("visible", () => {
  it("shows what turns letters around, and controls", () => {
    expect(visible("a\u202eb\u0007\u001b[1m\tc\r\nd")).toBe("a⟨U+202E⟩b␇␛[1m\tc\nd");
  });

  it("shows fillers, and joiners and selectors where they join or select nothing", () => {
    expect(visible("r\u200dm\u3164 a\u00adb\ufe01 \u{e0041}")).toBe("r⟨U+200D⟩m⟨U+3164⟩ a⟨U+00AD⟩b⟨U+FE01⟩ ⟨U+E0041⟩");
    expect(visible("\u200d😀\ufe0f\ufe0f")).toBe("⟨U+200D⟩😀\ufe0f⟨U+FE0F⟩");
  });

  it("leaves letters and emoji of all scripts", () => {
    const text = "naïve 漢字 👩‍💻 ❤️‍🔥 1️⃣ ©️ שלום می‌خواهم";
    expect(visible(text)).toBe(text);
  });
});
