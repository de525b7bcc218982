import { describe, expect, it } from "vitest";
import type { Plan, Question } from "../api/types";
import { aQuestion } from "../store/fake";
import { approve, approves, canBypass, canStop, type Outcome, planChoices, reject, revise } from "./plan";
import { outcomeLabel } from "./words";

const all = ["fresh", "accept_edits", "ask", "revise", "reject", "outline"];

function review(parts: Partial<Plan> = {}, more: Partial<Question> = {}): Question {
  const plan: Plan = {
    text: "# The plan",
    context_percent: 62.4,
    prompts: [{ tool: "Bash", prompt: "run the tests" }],
    outcomes: all,
    bypass: true,
    ...parts,
  };
  return aQuestion({ kind: "plan", tool: "ExitPlanMode", plan, ...more });
}

const nothing = { bypass: false, compact: false, noPrompts: false };
const everything = { edited: "Less.", bypass: true, compact: true, noPrompts: true };
const keys = (q: Question) => planChoices(q).map((c) => `${c.key} ${c.outcome}`);

describe("the outcomes of a plan", () => {
  it("have the terminal's keys", () => {
    expect(keys(review())).toEqual(["1 fresh", "2 accept_edits", "3 ask", "4 revise", "r reject", "p outline"]);
  });

  it("keep their keys when some are missing", () => {
    expect(keys(review({ outcomes: ["accept_edits", "ask", "revise", "reject"] }))).toEqual([
      "2 accept_edits",
      "3 ask",
      "4 revise",
      "r reject",
    ]);
    expect(keys(review({ outcomes: ["fresh", "revise", "reject"] }, { stale: true }))).toEqual([
      "1 fresh",
      "4 revise",
      "r reject",
    ]);
  });

  it("are yes and no without a plan", () => {
    const none = review({ text: "", outcomes: ["ask", "reject"], bypass: false });
    expect(keys(none)).toEqual(["1 ask", "2 reject"]);
    expect(outcomeLabel(none, "ask", false)).toBe("Yes");
    expect(outcomeLabel(none, "reject", false)).toBe("No");
  });

  it("are none where the hub names none that is known", () => {
    expect(keys(review({ outcomes: ["of_tomorrow"] }))).toEqual([]);
    expect(keys(review({ outcomes: null }))).toEqual([]);
    expect(keys(aQuestion({ kind: "plan" }))).toEqual([]);
  });

  it("can stop a turn only where there is one", () => {
    expect(canStop(review())).toBe(true);
    expect(canStop(review({}, { stale: true }))).toBe(false);
    expect(canStop(review({ outcomes: ["ask"] }))).toBe(false);
  });

  it("have the labels of Claude Code", () => {
    const q = review();
    expect(outcomeLabel(q, "fresh", false)).toBe("Yes, clear context (62% used) and auto-accept edits");
    expect(outcomeLabel(q, "fresh", true)).toBe("Yes, clear context (62% used) and bypass permissions");
    expect(outcomeLabel(review({ context_percent: undefined }), "fresh", false)).toBe("Yes, clear context and auto-accept edits");
    expect(outcomeLabel(review({ context_percent: 1e9 }), "fresh", false)).toContain("(100% used)");
    expect(outcomeLabel(q, "accept_edits", false)).toBe("Yes, auto-accept edits");
    expect(outcomeLabel(q, "accept_edits", true)).toBe("Yes, and bypass permissions");
    expect(outcomeLabel(q, "ask", false)).toBe("Yes, manually approve edits");
    expect(outcomeLabel(q, "revise", false)).toBe("No, keep planning");
    expect(outcomeLabel(q, "of_tomorrow", false)).toBe("of_tomorrow");
  });
});

describe("the approval of a plan", () => {
  it("holds nothing but its outcome", () => {
    for (const outcome of ["fresh", "accept_edits", "ask"] as const)
      expect(approve(review(), outcome, nothing)).toEqual({ outcome });
  });

  it("leaves out what does not go with the outcome", () => {
    const q = review();
    expect(approve(q, "fresh", everything)).toEqual({
      outcome: "fresh",
      plan: "Less.",
      mode: "bypassPermissions",
      no_prompts: true,
    });
    expect(approve(q, "accept_edits", everything)).toEqual({
      outcome: "accept_edits",
      plan: "Less.",
      mode: "bypassPermissions",
      compact: true,
      no_prompts: true,
    });
    expect(approve(q, "ask", everything)).toEqual({ outcome: "ask", plan: "Less.", compact: true, no_prompts: true });
  });

  it("bypasses nothing where there is no leave to", () => {
    const q = review({ bypass: false, prompts: null });
    expect(approve(q, "fresh", everything)).toEqual({ outcome: "fresh", plan: "Less." });
    expect(canBypass(q, "fresh")).toBe(false);
    expect(canBypass(review(), "ask")).toBe(false);
  });

  it("holds no plan that is the same", () => {
    expect(approve(review(), "ask", { ...nothing, edited: "# The plan" })).toEqual({ outcome: "ask" });
  });

  it("is what three outcomes are", () => {
    expect((all as Outcome[]).filter(approves)).toEqual(["fresh", "accept_edits", "ask"]);
  });
});

describe("the refusal of a plan", () => {
  it("needs words or an image to be revised", () => {
    expect(revise(" \n", [])).toBeUndefined();
    expect(revise("More.", [])).toEqual({ outcome: "revise", message: "More." });
  });

  it("may have words, and stop the turn", () => {
    expect(reject("", false)).toEqual({ outcome: "reject" });
    expect(reject("", true)).toEqual({ outcome: "reject", interrupt: true });
  });
});
