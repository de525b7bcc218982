// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, card, onCards, place, press, show, wait } from "./testcards";

onCards();

describe("a choice", () => {
  const choice = () =>
    ask({
      kind: "choice",
      choices: [
        { question: "Which?", options: [{ label: "A" }, { label: "B" }] },
        { question: "Parts?", multiple: true, options: [{ label: "X" }, { label: "Y" }, { label: "Z" }] },
      ],
    });

  it("is sent only when the person sends it", async () => {
    const q = choice();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    for (const key of ["2", "3", "1"]) await press(card(q), key);
    expect(answers()).toEqual([]);
    await press(card(q), "Enter");
    expect(answers()).toEqual([
      { to: q.id, decision: "allow", choices: { "Which?": { labels: ["B"] }, "Parts?": { labels: ["X", "Z"] } } },
    ]);
  });

  it("is not sent with a question that has no answer", async () => {
    const q = choice();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "1");
    await press(card(q), "Enter");
    expect(answers()).toEqual([]);
    expect(place.textContent).toContain("Choose an option, write");
  });
});
