// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Answer } from "../api/types";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, button, card, click, field, hub, onCards, place, press, show, type, wait } from "./testcards";

onCards();

describe("a plan", () => {
  const plan = () =>
    ask({
      kind: "plan",
      tool: "ExitPlanMode",
      plan: {
        text: "1. Do it.",
        bypass: true,
        prompts: [{ tool: "Bash", prompt: "test" }],
        outcomes: ["fresh", "accept_edits", "ask", "revise", "reject", "outline"],
      },
    });

  it.each<[string[], Partial<Answer>]>([
    [["1"], { outcome: "fresh" }],
    [["2"], { outcome: "accept_edits" }],
    [["3"], { outcome: "ask" }],
    [["p"], { outcome: "outline" }],
    [["b", "1"], { outcome: "fresh", mode: "bypassPermissions" }],
    [["b", "3"], { outcome: "ask" }],
    [["b", "b", "2"], { outcome: "accept_edits" }],
    [["c", "x", "3"], { outcome: "ask", compact: true, no_prompts: true }],
    [["c", "1"], { outcome: "fresh" }],
  ])("keys %s", async (keys, want) => {
    const q = plan();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    for (const key of keys) {
      await press(card(q), key);
      const dialog = document.querySelector("[role=alertdialog]");
      const agree = [...(dialog?.querySelectorAll("button") ?? [])].find((b) => b.textContent === "Bypass permissions");
      if (agree) await click(agree);
    }
    expect(answers()).toEqual([{ to: q.id, ...want }]);
  });

  it("bypasses nothing that was not confirmed", async () => {
    const q = plan();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "b");
    const dialog = document.querySelector("[role=alertdialog]");
    expect(dialog?.textContent).toContain("run every command and edit every file without asking");
    const cancel = [...(dialog?.querySelectorAll("button") ?? [])].find((b) => b.textContent === "Cancel");
    if (cancel) await click(cancel);
    await press(card(q), "1");
    expect(answers()).toEqual([{ to: q.id, outcome: "fresh" }]);
  });

  it("is not approved by a key while feedback is written", async () => {
    const q = plan();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "4");
    await press(button("Add images"), "1");
    await press(button("Send and keep planning"), "2");
    expect(answers()).toEqual([]);
    await click(button("Send and keep planning"));
    expect(place.textContent).toContain("Describe the change");
    await type(field(), "Less.");
    await press(field(), "Enter");
    expect(answers()).toEqual([{ to: q.id, outcome: "revise", message: "Less." }]);
  });

  it("is not bypassed without the right to", async () => {
    hub.scopes.delete("admin");
    const q = plan();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "b");
    await press(card(q), "1");
    expect(answers()).toEqual([{ to: q.id, outcome: "fresh" }]);
  });

  it("is approved as it was edited, and not if that is empty", async () => {
    const q = plan();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "e");
    await type(field(), " ");
    await press(card(q), "2");
    expect(answers()).toEqual([]);
    await type(field(), "1. Do less.");
    await press(card(q), "2");
    expect(answers()).toEqual([{ to: q.id, outcome: "accept_edits", plan: "1. Do less." }]);
  });

  it("without known outcomes is answered as the call that it is", async () => {
    const q = ask({ kind: "plan", plan: { text: "x", outcomes: ["of_tomorrow"] } });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "1");
    expect(answers()).toEqual([]);
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });
});
