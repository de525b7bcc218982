import { describe, expect, it } from "vitest";
import type { Json, Question } from "../api/types";
import { aQuestion } from "../store/fake";
import { isExact, parseObject } from "./exact";
import { hasHidden, hidesInMarkdown, holdsHidden, mayBeFolded, revealed } from "./hidden";
import { callOf, canAlways, sameMeaning } from "./request";
import { outcomeOf, outcomeTone } from "./words";

const asking = (request: Question["request"], more: Partial<Question> = {}) => aQuestion({ request, ...more });

describe("the call that a question is about", () => {
  it("is read with its envelope and without", () => {
    const inner = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "make" } };
    expect(callOf(asking(inner))).toEqual({
      tool: "Bash",
      input: { command: "make" },
      hook: false,
      once: false,
      defaultNo: false,
    });
    expect(callOf(asking({ type: "control_request", request: inner }))).toEqual(callOf(asking(inner)));
  });

  it("is read from a hook, which cannot allow for good", () => {
    const call = callOf(
      asking({
        subtype: "hook_callback",
        input: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" } },
      }),
    );
    expect(call).toEqual({ tool: "Bash", input: { command: "ls" }, hook: true, once: false, defaultNo: false });
    expect(canAlways(call)).toBe(false);
  });

  it("has no input where it cannot be read", () => {
    for (const request of [1, null, [], "x", { subtype: "hook_callback", input: { hook_event_name: "Stop" } }]) {
      expect(callOf(asking(request)).input).toBeUndefined();
    }
  });

  it("says what the CLI wants of the answer", () => {
    const call = callOf(asking({ tool_name: "Bash", input: {}, suppress_always_allow_rule: true, default_to_no: true }));
    expect([call.once, call.defaultNo, canAlways(call)]).toEqual([true, true, false]);
    expect(canAlways(callOf(asking({ tool_name: "EnterPlanMode", input: {} })))).toBe(false);
    expect(canAlways(callOf(asking({ tool_name: "Bash", input: {} })))).toBe(true);
  });
});

describe("whether a question still means the same", () => {
  const plan = aQuestion({ kind: "plan", plan: { text: "a", outcomes: ["ask"] } });

  it("does with what is only told about it", () => {
    expect(sameMeaning(plan, { ...plan, plan: { text: "a", outcomes: ["ask"], context_percent: 7 } })).toBe(true);
    expect(sameMeaning(plan, { ...plan, deadline: 7, why: "because" })).toBe(true);
  });

  it("does not with another plan, other outcomes, other suggestions, another request", () => {
    expect(sameMeaning(plan, { ...plan, plan: { text: "b", outcomes: ["ask"] } })).toBe(false);
    expect(sameMeaning(plan, { ...plan, plan: { text: "a", outcomes: ["fresh"] } })).toBe(false);
    expect(sameMeaning(plan, { ...plan, suggestions: [{ text: "a", update: {} }] })).toBe(false);
    expect(sameMeaning(plan, { ...plan, request: {} })).toBe(false);
  });
});

describe("numbers", () => {
  it("are sent as they are shown, or not at all", () => {
    expect(isExact({ a: [1, { b: 2.5 }], c: null })).toBe(true);
    expect(isExact({ a: [1, { b: 2 ** 53 + 2 }] })).toBe(false);
    expect(parseObject('{"a": 12345678901234567890}')).toEqual({ problem: "number" });
    expect(parseObject('{"a": 1e999}')).toEqual({ problem: "number" });
  });

  it("stand in one object", () => {
    expect(parseObject('{"a": 1}')).toEqual({ value: { a: 1 } });
    for (const text of ["null", "[]", "1", '"x"']) expect(parseObject(text)).toEqual({ problem: "object" });
    expect(parseObject('{"a"')).toMatchObject({ problem: "syntax" });
  });
});

describe("what a preview may leave folded", () => {
  const deep = (levels: number): Json => (levels === 0 ? "x" : { a: deep(levels - 1) });
  it.each<[string, Json, boolean]>([
    ["a command", { command: "a\n".repeat(1000), timeout: 7 }, false],
    ["a command that is cut", { command: "a".repeat(100_001) }, true],
    ["a long text within", { a: { b: "x".repeat(2001) } }, true],
    ["a short text within", { a: { b: "x".repeat(2000) } }, false],
    ["many members", { a: Array.from({ length: 21 }, () => 1) }, true],
    ["few members", { a: Array.from({ length: 20 }, () => 1) }, false],
    ["many levels", { a: deep(4) }, true],
    ["few levels", { a: deep(2) }, false],
    ["no object", ["x"], true],
  ])("%s", (_name, input, folded) => {
    expect(mayBeFolded(input)).toBe(folded);
  });
});

describe("characters that cannot be seen", () => {
  it.each([
    ["a zero-width space", "ls\u200b", true],
    ["a turn of direction", "rm \u202e txt", true],
    ["an isolate", "a\u2066b", true],
    ["an escape", "a\u001b[2K", true],
    ["a tag", "a\u{e0041}", true],
    ["a lonely carriage return", "rm -rf /\rls      ", true],
    ["a joiner between Latin letters", "a\u200db", true],
    ["two selectors", "❤\ufe0f\ufe0f", true],
    ["lines of a file of Windows", "a\r\nb", false],
    ["tabs and lines", "a\n\tb", false],
    ["emoji", "❤️ 👩‍👩‍👧 🙂", false],
    ["a script that needs joiners", "नमस्‍ते", false],
    ["letters of any language", "Grüße, 世界, שלום", false],
  ])("%s", (_name, text, hidden) => {
    expect(hasHidden(text)).toBe(hidden);
    expect(revealed(text) === text).toBe(!hidden);
  });

  it("are found in names and deep inside", () => {
    expect(holdsHidden({ a: [{ "b\u200b": 1 }] })).toBe(true);
    expect(holdsHidden({ a: [{ b: "c" }] })).toBe(false);
    expect(holdsHidden(undefined)).toBe(false);
  });

  it("are written as numbers", () => {
    expect(revealed("a\u202eb\u{e0041}")).toBe("a\\u{202e}b\\u{e0041}");
  });

  it("may be hidden by Markdown", () => {
    for (const text of ["a <!-- and rm -->", "<style>x</style>", '<p title="rm">', "[x]: http://a 'rm'", "a\u200b"])
      expect(hidesInMarkdown(text)).toBe(true);
    for (const text of ["# Plan\n\n1. Do `a < b`", "use <Button> here", "[x](y)"]) expect(hidesInMarkdown(text)).toBe(false);
  });
});

describe("how a question was settled", () => {
  const settled = (parts: Partial<Question>) => aQuestion({ state: "answered", ...parts });
  it.each<[Question, string, string]>([
    [settled({ by: "ann", answer: { decision: "allow" } }), "allowed by ann", "ok"],
    [settled({ by: "ann", answer: { decision: "allow", always: { suggestion: 0 } } }), "always allowed by ann", "ok"],
    [settled({ by: "ann", answer: { decision: "allow", input: {} } }), "allowed as edited by ann", "ok"],
    [settled({ by: "ann", answer: { decision: "deny", message: "Not now." } }), "denied by ann: Not now.", "danger"],
    [settled({ by: "ann", answer: { decision: "deny", interrupt: true } }), "denied and turn stopped by ann", "danger"],
    [
      settled({ from: "hub", answer: { decision: "deny" }, rule: { rule: "Bash(rm:*)", decision: "deny", scope: "global" } }),
      "denied by rule Bash(rm:*)",
      "danger",
    ],
    [
      settled({ by: "ann", answer: { decision: "deny" }, rule: { rule: "Bash", decision: "ask", scope: "global" } }),
      "denied by ann",
      "danger",
    ],
    [settled({ kind: "choice", by: "ann", answer: { decision: "allow" } }), "answered by ann", "ok"],
    [settled({ kind: "choice", by: "ann", answer: { decision: "deny" } }), "skipped by ann", "danger"],
    [
      settled({ kind: "plan", by: "ann", answer: { outcome: "revise", message: "More." } }),
      "answered “No, keep planning” by ann: More.",
      "neutral",
    ],
    [settled({ kind: "form", by: "ann", answer: { decision: "decline" } }), "declined by ann", "danger"],
    [
      settled({ kind: "form", state: "cancelled", from: "hub", reason: "the session has ended" }),
      "cancelled by the hub: the session has ended",
      "neutral",
    ],
    [
      settled({ state: "answered_too_late", by: "ann", answer: { decision: "allow" } }),
      "allowed by ann, too late: the agent was no longer waiting",
      "ok",
    ],
    [settled({ from: "program", answer: { decision: "aye" } }), "answered by the program", "neutral"],
  ])("%#", (q, want, tone) => {
    expect(outcomeOf(q)).toBe(want);
    expect(outcomeTone(q)).toBe(tone);
  });

  it("says you for this device", () => {
    const q = settled({ by: "Chrome on Linux", answer: { decision: "allow" } });
    expect(outcomeOf(q, "Chrome on Linux")).toBe("allowed by you");
    expect(outcomeOf(q, "Safari on iOS")).toBe("allowed by Chrome on Linux");
  });
});
