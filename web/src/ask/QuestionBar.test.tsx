// @vitest-environment jsdom
import { act } from "react";
import { describe, expect, it } from "vitest";
import type { Question } from "../api/types";
import { QuestionBar } from "./QuestionBar";
import { answers, ask, button, card, click, hub, onCards, place, press, show, wait } from "./testcards";

onCards();

describe("the questions above a composer", () => {
  it("takes the focus from nobody when a question comes up after a while without any", async () => {
    const [a, b] = [ask(), ask()];
    hub.ask(a);
    await show(<QuestionBar session={hub.open("s1")} />);
    await act(async () => card(a).focus());
    const gone: Question = { ...a, state: "answered", by: "ann", answer: { decision: "allow" } };
    await act(async () => hub.ask(gone));
    expect(document.activeElement).toBe(document.body);
    await act(async () => hub.ask(gone, b));
    expect(card(b)).toBeTruthy();
    expect(document.activeElement).toBe(document.body);
  });

  it("keeps the keyboard of the person who answers with the questions, and never puts it into the composer", async () => {
    const [a, b, c] = [ask(), ask({ kind: "choice", choices: [{ question: "Which?", options: [{ label: "One" }] }] }), ask()];
    const gone = (q: Question): Question => ({ ...q, state: "answered", by: "me", answer: { decision: "allow" } });
    hub.ask(a);
    await show(
      <>
        <button type="button">A row of the conversation</button>
        <QuestionBar session={hub.open("s1")} />
        <textarea data-composer="" />
      </>,
    );
    const row = button("A row of");
    await act(async () => row.focus());
    await act(async () => card(a).focus());
    await wait(1000);
    await press(card(a), "y");
    await act(async () => hub.ask(gone(a)));
    expect(document.activeElement).toBe(row);
    // The next question comes only now: its keys count.
    await act(async () => hub.ask(gone(a), b));
    expect(document.activeElement).toBe(card(b));
    await wait(1000);
    await press(card(b), "1");
    await press(card(b), "Enter");
    expect(answers().map((answer) => answer.to)).toEqual([a.id, b.id]);
    await act(async () => hub.ask(gone(a), gone(b)));
    // What is used elsewhere on the page meanwhile keeps the focus.
    await press(document.body, "j");
    await act(async () => hub.ask(gone(a), gone(b), c));
    expect(document.activeElement).toBe(row);
  });

  it("gives the next one no focus that somebody has taken elsewhere with the pointer", async () => {
    const [a, b] = [ask(), ask()];
    hub.ask(a, b);
    await show(<QuestionBar session={hub.open("s1")} />);
    await act(async () => card(a).focus());
    await act(async () => {
      document.body.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true }));
      card(a).blur();
      hub.ask({ ...a, state: "answered", by: "ann", answer: { decision: "allow" } }, b);
    });
    expect(card(b)).toBeTruthy();
    expect(document.activeElement).toBe(document.body);
  });

  it("has one card above a composer, of its own session, and brings the others forward", async () => {
    const [a, b, other] = [ask(), ask(), ask({ session: "s2" })];
    hub.ask(a, b, other);
    await show(<QuestionBar session={hub.open("s1")} />);
    expect(place.querySelectorAll("article")).toHaveLength(1);
    expect(card(a)).toBeTruthy();
    await click(button("Later"));
    expect(card(b)).toBeTruthy();
    await click(button("Answer now"));
    expect(card(a)).toBeTruthy();
  });

  it("says who was faster, above the next one", async () => {
    const [a, b] = [ask(), ask()];
    hub.ask(a, b);
    await show(<QuestionBar session={hub.open("s1")} />);
    await wait(1000);
    await act(async () => hub.ask({ ...a, state: "answered", by: "ann", answer: { decision: "allow" } }, b));
    expect(place.textContent).toContain("allowed by ann");
    await press(card(b), "y");
    expect(answers()).toEqual([]);
  });
});
