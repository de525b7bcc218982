import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { previewLines } from "./transcript";

describe("previewLines", () => {
  it("shows what was said and which tools were used", () => {
    const lines: Json[] = [
      { type: "summary", summary: "x" },
      { type: "user", message: { role: "user", content: "Hello" } },
      { type: "user", isMeta: true, message: { content: "for the CLI" } },
      { type: "user", message: { content: "<command-name>/clear</command-name>" } },
      {
        type: "assistant",
        message: {
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "Hi" },
            { type: "tool_use", name: "Bash", input: {} },
          ],
        },
      },
      { type: "user", message: { content: [{ type: "tool_result", content: "out" }] } },
      { type: "assistant", isSidechain: true, message: { content: [{ type: "text", text: "sub-agent" }] } },
    ];
    expect(previewLines(lines, 10)).toEqual([
      { key: "11.0", who: "person", text: "Hello" },
      { key: "14.1", who: "agent", text: "Hi" },
      { key: "14.2", who: "tool", text: "used Bash" },
    ]);
  });

  it("takes any shape, and cuts what is long", () => {
    expect(
      previewLines(
        [null, 3, "x", [], { type: "user" }, { type: "user", message: 3 }, { type: "user", message: { content: [null, 1] } }],
        0,
      ),
    ).toEqual([]);
    const [line] = previewLines([{ type: "user", message: { content: "x".repeat(5000) } }], 0);
    expect(line?.text.length).toBeLessThan(1000);
  });
});
