// @vitest-environment jsdom
import { act } from "react";
import { describe, expect, it, vi } from "vitest";
import type { Question } from "../api/types";
import { InboxPage } from "./InboxPage";
import { answers, ask, button, card, click, field, hub, onCards, place, press, show, wait } from "./testcards";

onCards();

describe("a list of questions", () => {
  it("takes no answer while the questions move", async () => {
    const [a, b] = [ask(), ask()];
    hub.ask(a, b);
    await show(<InboxPage />);
    await wait(1000);
    await act(async () => hub.ask({ ...a, state: "answered", by: "ann", answer: { decision: "deny" } }, b));
    expect(place.textContent).toContain("denied by ann");
    await click(button("Allow once"));
    await press(card(b), "y");
    expect(answers()).toEqual([]);
    await wait(401);
    await press(card(b), "y");
    expect(answers()).toEqual([{ to: b.id, decision: "allow" }]);
  });

  it("gives the focus to the next one, but not to somebody who types", async () => {
    const [a, b, c] = [ask(), ask(), ask()];
    hub.ask(a, b, c);
    await show(<InboxPage question={a.id} />);
    expect(document.activeElement).toBe(card(a));
    const gone = (q: Question): Question => ({ ...q, state: "answered", by: "ann", answer: { decision: "allow" } });
    await act(async () => hub.ask(gone(a), b, c));
    expect(document.activeElement).toBe(card(b));
    await wait(1000);
    await press(card(b), "n");
    expect(document.activeElement).toBe(field());
    await act(async () => hub.ask(gone(a), gone(b), c));
    expect(document.activeElement).toBe(document.body);
  });

  it("takes no press on a button that has just moved", async () => {
    const resized: (() => void)[] = [];
    // The library listens to pointers only where there are some, and jsdom has none.
    vi.stubGlobal(
      "PointerEvent",
      class extends MouseEvent {
        readonly pointerId = 1;
        readonly pointerType = "mouse";
        readonly width = 1;
        readonly height = 1;
      },
    );
    vi.stubGlobal(
      "ResizeObserver",
      class {
        private run: () => void;
        constructor(run: () => void) {
          this.run = run;
        }
        observe(element: Element) {
          if (element.querySelector("article")) resized.push(this.run);
        }
        disconnect() {}
      },
    );
    const q = ask();
    hub.ask(q);
    await show(<InboxPage />);
    await wait(1000);
    const pressed = async () => {
      const allow = button("Allow once");
      const parts = { bubbles: true, cancelable: true, composed: true, detail: 1, button: 0 };
      await act(async () => {
        allow.dispatchEvent(new PointerEvent("pointerdown", parts));
        allow.dispatchEvent(new PointerEvent("pointerup", parts));
        allow.dispatchEvent(new MouseEvent("click", parts));
      });
    };
    expect(resized.length).toBeGreaterThan(0);
    for (const run of resized) run();
    await pressed();
    expect(answers()).toEqual([]);
    expect(place.textContent).toContain("just appeared");
    await wait(251);
    await pressed();
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("shows nothing that was settled before", async () => {
    hub.ask(ask({ state: "answered", by: "ann", answer: { decision: "allow" } }));
    await show(<InboxPage />);
    expect(place.textContent).toContain("Nothing needs you");
  });
});
