// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import type { Answer, Json } from "../api/types";
import { InboxPage } from "./InboxPage";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, button, card, click, field, hub, onCards, place, press, show, wait } from "./testcards";

onCards();

describe("a card", () => {
  it("of more levels than the browser can follow takes nothing else along", async () => {
    let deep: Json = "x";
    for (let i = 0; i < 20_000; i++) deep = [deep];
    const complain = vi.spyOn(console, "error").mockImplementation(() => {});
    const bad = ask({ request: { subtype: "can_use_tool", tool_name: "Other", input: { deep } } });
    const good = ask();
    await show([<QuestionCard key="bad" question={bad} />, <QuestionCard key="good" question={good} />]);
    expect(place.textContent).toContain("Can't show this");
    expect(place.textContent).toContain(`switchboard deny ${bad.id}`);
    await wait(1000);
    await press(card(good), "y");
    expect(answers()).toEqual([{ to: good.id, decision: "allow" }]);
    complain.mockRestore();
  });

  it("is allowed by its key, once, and by nothing before it was to be seen", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await press(card(q), "y");
    expect(answers()).toEqual([]);
    expect(place.textContent).toContain("just appeared");
    await wait(401);
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
    expect(place.textContent).toContain("allowed by me");
    expect(place.querySelector("button")).toBeNull();
  });

  it("takes no key while somebody goes on typing", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    for (let i = 0; i < 5; i++) {
      await wait(300);
      await press(card(q), "y");
    }
    expect(answers()).toEqual([]);
    await wait(401);
    await press(card(q), "y");
    expect(answers()).toHaveLength(1);
  });

  it("takes no click that was meant for what was there before", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await click(button("Allow once"));
    expect(answers()).toEqual([]);
    await wait(401);
    await click(button("Allow once"));
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("is marked for as long as it takes no answer", async () => {
    const q = ask();
    hub.ask(q);
    await show(<InboxPage />);
    const guarded = () => card(q).hasAttribute("data-guarded");
    expect(guarded()).toBe(true);
    await wait(399);
    expect(guarded()).toBe(true);
    await press(card(q), "y");
    await wait(399);
    expect(guarded()).toBe(true);
    await wait(1);
    expect(guarded()).toBe(false);
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("takes no key that is held down, with a modifier, in capitals, or typed into a field", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y", { repeat: true });
    await press(card(q), "y", { ctrlKey: true });
    await press(card(q), "Y", { shiftKey: true });
    await press(card(q), "Enter");
    await press(card(q), "n");
    await press(field(), "y");
    expect(answers()).toEqual([]);
  });

  it("keeps its keys from the rest of the page", async () => {
    const q = ask({ kind: "dialog", request: {} });
    const heard: string[] = [];
    const listen = (e: KeyboardEvent) => heard.push(e.key);
    window.addEventListener("keydown", listen);
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y");
    await press(card(q), "j");
    window.removeEventListener("keydown", listen);
    expect(heard).toEqual(["j"]);
  });

  it("waits again once it means something else", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await show(<QuestionCard question={{ ...q, request: { tool_name: "Bash", input: { command: "rm -rf ." } } }} />);
    await press(card(q), "y");
    expect(answers()).toEqual([]);
    await wait(601);
    await press(card(q), "y");
    expect(answers()).toHaveLength(1);
  });

  it("cannot be answered without the right to", async () => {
    hub.scopes.delete("approve");
    const q = ask();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    for (const key of ["y", "a", "e", "n", "s"]) await press(card(q), key);
    await click(button("Allow once"));
    expect(answers()).toEqual([]);
    expect(place.querySelector("textarea")).toBeNull();
  });

  it("says who was faster", async () => {
    const q = ask();
    hub.api.on("answer-question", () => {
      const question = { ...q, state: "answered", by: "ann", answer: { decision: "deny", message: "Not on a Friday." } };
      throw new ApiError({ status: 409, code: "already_settled", title: "too late", question });
    });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y");
    expect(place.textContent).toContain("denied by ann: Not on a Friday.");
    expect(place.querySelector("button")).toBeNull();
  });

  it("is sent again with the same id, and another answer with another", async () => {
    const q = ask();
    hub.api.on("answer-question", () => {
      throw new ApiError({ status: 0, code: "unreachable", title: "The hub cannot be reached" });
    });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y");
    expect(place.textContent).toContain("The hub cannot be reached");
    await press(card(q), "y");
    await press(card(q), "n");
    await press(field(), "Enter");
    const [first, second, third] = hub.api.of("answer-question").map((c) => (c.body as Answer).client_id);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});
