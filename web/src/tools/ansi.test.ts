import { describe, expect, it } from "vitest";
import { parseAnsi, withoutAnsi } from "./ansi";

const esc = "\u001b";

describe("parseAnsi", () => {
  it("reads colours and leaves text", () => {
    expect(parseAnsi(`ok ${esc}[1;32mPASS${esc}[0m done`)).toEqual([
      { text: "ok ", style: {} },
      { text: "PASS", style: { bold: true, colour: "green" } },
      { text: " done", style: {} },
    ]);
  });

  it("takes colours of 256 and of red, green and blue for the nearest of eight", () => {
    const colour = (sgr: string) => parseAnsi(`${esc}[${sgr}mx`)[0]?.style.colour;
    expect(colour("38;5;196")).toBe("red");
    expect(colour("38;5;9")).toBe("red");
    expect(colour("38;2;30;200;40")).toBe("green");
    expect(colour("38:2:250:240:10")).toBe("yellow");
    expect(colour("38;5;240")).toBe("black");
    expect(colour("38;2;240;240;240;1")).toBe("white");
    expect(parseAnsi(`${esc}[38;5;196;1mx`)[0]?.style.bold).toBe(true);
  });

  it("takes styles back", () => {
    expect(parseAnsi(`${esc}[1;31;42ma${esc}[22;39;49mb`)[1]?.style).toEqual({
      bold: false,
      dim: false,
      colour: undefined,
      back: undefined,
    });
    expect(parseAnsi(`${esc}[31ma${esc}[mb`)[1]?.style).toEqual({});
  });

  it("leaves out what moves the cursor, sets titles, fills the clipboard or links", () => {
    expect(
      withoutAnsi(
        `${esc}[2J${esc}[1;1Ha${esc}]0;title\u0007b${esc}]52;c;ZXZpbA==${esc}\\c${esc}]8;;javascript:x${esc}\\link${esc}]8;;${esc}\\${esc}(Bd`,
      ),
    ).toBe("abclinkd");
  });

  it("shows a line that was written over as it was left", () => {
    expect(withoutAnsi("10%\r50%\r100%\ndone\r\n")).toBe("100%\ndone\n");
    expect(withoutAnsi("ab\bc")).toBe("ac");
  });

  it("shows sequences that never end, and turned letters", () => {
    expect(withoutAnsi(`a${esc}]0;never`)).toBe("a␛]0;never");
    expect(withoutAnsi("a\u202eb")).toBe("a⟨U+202E⟩b");
  });

  it("is quick with many sequences that never end", () => {
    const text = `${esc}]`.repeat(50_000) + "a".repeat(50_000) + "\b".repeat(50_000);
    const before = process.cpuUsage();
    expect(withoutAnsi(text).length).toBeGreaterThan(0);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000); // of the processor: the machine may be busy
  });
});
