import { describe, expect, it, vi } from "vitest";
import type { Item, Tool } from "../talk/item";
import { Folds } from "./fold";
import { shorten, splitOrders } from "./Prompt";
import { holds, plainText } from "./plain";
import { idBefore } from "./RawDialog";
import { reason } from "./Turn";

const tool: Tool = {
  kind: "tool",
  id: "t",
  use: "u",
  name: "Bash",
  input: { command: "go test ./...", timeout: 5 },
  state: "done",
  children: [],
  result: { blocks: [], text: "FAIL: TestDate", failed: true },
};

describe("Folds", () => {
  it("tells only those who look at a key", () => {
    const folds = new Folds();
    const [a, b] = [vi.fn(), vi.fn()];
    folds.subscribe("a", a);
    folds.subscribe("b", b);
    folds.set("a", true);
    folds.set("a", true);
    expect(a).toHaveBeenCalledTimes(1);
    expect(b).not.toHaveBeenCalled();
  });

  it("turns around what is drawn, and nothing else", () => {
    const folds = new Folds();
    expect(folds.toggle("a")).toBe(false);
    const gone = folds.subscribe("a", () => {});
    folds.draw("a", true);
    expect(folds.toggle("a")).toBe(true);
    expect(folds.get("a")).toBe(false);
    gone();
    expect(folds.toggle("a")).toBe(false);
    expect(folds.get("a")).toBe(false);
  });
});

describe("plainText", () => {
  it("is what was written", () => {
    const prompt: Item = {
      kind: "prompt",
      id: "p",
      blocks: [
        { type: "text", text: "a" },
        { type: "image", mediaType: "image/png" },
        { type: "text", text: "b" },
      ],
    };
    expect(plainText(prompt)).toBe("a\n\nb");
    expect(plainText({ kind: "text", id: "x", text: "**a**" })).toBe("**a**");
    expect(plainText({ kind: "unknown", id: "x", type: "y", raw: { type: "y" } })).toContain('"type": "y"');
    expect(plainText(tool)).toContain("FAIL: TestDate");
  });

  it("is found in", () => {
    expect(holds(tool, "testdate")).toBe(true);
    expect(holds(tool, "go test")).toBe(true);
    expect(holds(tool, "bash")).toBe(true);
    expect(holds(tool, "other")).toBe(false);
  });
});

describe("shorten", () => {
  it("leaves what is short", () => {
    expect(shorten("a\nb", 100, 10)).toBe("a\nb");
  });

  it("cuts by lines and by characters", () => {
    expect(shorten("a\n".repeat(100), 1000, 3)).toBe("a\na\na");
    expect(shorten("x".repeat(5000), 1000, 3).length).toBe(1000);
  });

  it("does not hide a few words behind a button", () => {
    const text = "x".repeat(1100);
    expect(shorten(text, 1000, 3)).toBe(text);
  });
});

describe("splitOrders", () => {
  it("parts what is said from what a simulated agent is told to do", () => {
    expect(splitOrders("Fix it.\n\nInstructions for the simulated agent:\n@say Done.\n")).toEqual(["Fix it.", "@say Done.\n"]);
    expect(splitOrders("Fix it.")).toEqual(["Fix it.", ""]);
  });
});

describe("idBefore", () => {
  it("is the id of the event before", () => {
    expect(idBefore("k3v9:1285")).toBe("k3v9:1284");
    expect(idBefore("k3v9:1")).toBeUndefined();
    expect(idBefore("nonsense")).toBeUndefined();
  });
});

describe("reason", () => {
  it("says why a turn failed", () => {
    expect(reason({ subtype: "error_max_turns" })).toBe("Turn limit reached");
    expect(reason({ subtype: "error_during_execution", error: "boom" })).toContain("boom");
    expect(reason({ subtype: "new_kind" })).toBe("new_kind");
    expect(reason({ subtype: "error_during_execution", error: "error_during_execution" })).toBe("Stopped by an error");
  });
});
