// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Event } from "../api/types";
import { aQuestion, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { Cell } from "../store/readable";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { PlaceContext } from "./context";
import { Folds, FoldsContext } from "./fold";
import { rangesOf } from "./paint";
import { RawEvent, rawText } from "./RawDialog";
import { Row } from "./Row";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const drawn = vi.hoisted(() => ({ rows: 0 }));
vi.mock("./count", () => ({ countRow: () => drawn.rows++ }));

let root: Root;
let host: HTMLElement;

beforeEach(() => {
  drawn.rows = 0;
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});

afterEach(() => {
  act(() => root.unmount());
  host.remove();
});

function place() {
  return {
    selected: new Cell<string | undefined>(undefined),
    wanted: {} as { id?: string },
    simulated: true,
    copy: vi.fn(),
    menu: vi.fn(),
  };
}

function show(items: readonly Item[], at = place(), folds = new Folds()) {
  const hub = fakeHub();
  const session = hub.open("s1");
  session.put(...items);
  act(() =>
    root.render(
      <HubContext value={hub}>
        <FoldsContext value={folds}>
          <PlaceContext value={at}>
            {items.map((item, i) => (
              <Row key={item.id} session={session} id={item.id} place={i + 1} />
            ))}
          </PlaceContext>
        </FoldsContext>
      </HubContext>,
    ),
  );
  return { hub, session, at, folds };
}

const text = (id: string, words: string, more: Partial<Item> = {}): Item => ({ kind: "text", id, text: words, ...more }) as Item;

it("does not show what is asked below while it is open", () => {
  const tool = {
    kind: "tool",
    id: "tool:t1",
    name: "Bash",
    input: {},
    state: "asking",
    children: [],
    question: "q1",
  } as unknown as Item;
  const { hub } = show([text("a", "Hello"), tool, { kind: "question", id: "question:q1", question: aQuestion() } as Item]);
  const hidden = () => [...host.querySelectorAll("article")].map((row) => row.hidden);
  expect(hidden()).toEqual([false, false, false]);
  act(() => hub.ask(aQuestion()));
  expect(hidden()).toEqual([false, true, true]);
  act(() => hub.ask(aQuestion({ state: "answered", by: "ann", answer: { decision: "allow" } })));
  expect(hidden()).toEqual([false, false, false]);
});

it("shows a line raw, and does not fall over one that is nested without end", () => {
  expect(rawText({ id: "e:1" } as Event)).toBe('{\n  "id": "e:1"\n}');
  let deep: unknown = 1;
  for (let i = 0; i < 50_000; i++) deep = [deep];
  expect(rawText({ id: "e:1", line: deep } as Event)).toBe(t.rawTooDeep);
});

describe("Row", () => {
  it("is drawn again alone when its item changes", () => {
    const { session } = show([text("a", "one"), text("b", "two"), text("c", "three")]);
    expect(drawn.rows).toBe(3);
    act(() => session.item("b").set(text("b", "two more", { streaming: true })));
    expect(drawn.rows).toBe(4);
    expect(host.textContent).toContain("two more");
  });

  it("selects by focus, and takes the focus when somebody goes to it", () => {
    const { at } = show([text("a", "one"), text("b", "two")]);
    const [first, second] = [...host.querySelectorAll("article")];
    act(() => first?.focus());
    expect(at.selected.get()).toBe("a");
    drawn.rows = 0;
    at.wanted.id = "b";
    act(() => at.selected.set("b"));
    expect(document.activeElement).toBe(second);
    expect(drawn.rows).toBe(2);
  });

  it("takes no focus when it only comes back, nor from somebody who types", () => {
    const field = document.createElement("textarea");
    host.before(field);
    const at = place();
    at.selected.set("a");
    at.wanted.id = "a";
    show([text("a", "one")], at);
    expect(document.activeElement).toBe(host.querySelector("article"));
    field.focus();
    show([], at);
    show([text("a", "one")], at);
    expect(document.activeElement).toBe(field);
    at.wanted.id = "b";
    act(() => at.selected.set("b"));
    show([text("a", "one"), text("b", "two")], at);
    expect(document.activeElement).toBe(field);
    field.remove();
  });

  it("leaves the focus with a control inside", () => {
    const { at } = show([text("a", "one")]);
    const button = host.querySelector("button");
    act(() => button?.focus());
    expect(at.selected.get()).toBe("a");
    expect(document.activeElement).toBe(button);
  });

  it("folds what was thought, also from outside", () => {
    const { folds } = show([{ kind: "thinking", id: "t", text: "First line\n\nsecret **plan**" }]);
    expect(host.querySelector("strong")).toBeNull();
    act(() => void folds.toggle("t"));
    expect(host.querySelector("strong")?.textContent).toBe("plan");
    act(() => host.querySelector<HTMLButtonElement>("[aria-expanded]")?.click());
    expect(host.querySelector("strong")).toBeNull();
  });

  it("says how far a prompt has come", () => {
    show([
      {
        kind: "prompt",
        id: "p",
        by: "ann",
        blocks: [{ type: "text", text: "do <b>it</b>" }],
        delivery: "not_delivered",
        reason: "The agent is gone",
      },
    ]);
    expect(host.textContent).toContain("ann");
    expect(host.textContent).toContain("do <b>it</b>");
    expect(host.textContent).toContain("Not delivered");
    expect(host.textContent).toContain("The agent is gone");
  });

  it("draws every kind", () => {
    show([
      { kind: "prompt", id: "1", synthetic: true, blocks: [{ type: "text", text: "A task has ended" }] },
      { kind: "thinking", id: "2", text: "", redacted: true },
      {
        kind: "turn",
        id: "3",
        subtype: "success",
        failed: false,
        interrupted: false,
        ms: 1200,
        usd: 0.05,
        tokens: { input: 10, output: 5, cacheRead: 1, cacheWrite: 2 },
      },
      { kind: "turn", id: "4", subtype: "error_max_turns", failed: true, interrupted: false },
      { kind: "unknown", id: "5", type: "new_line", raw: { type: "new_line" } },
      { kind: "notice", id: "6", topic: "hook", level: "dim", title: "A hook ran" },
    ]);
    expect(host.querySelectorAll("article").length).toBe(6);
    for (const words of ["A task has ended", "Turn done", "Turn limit reached", "new_line", "A hook ran"]) {
      expect(host.textContent).toContain(words);
    }
  });
});

describe("RawEvent", () => {
  it("shows the very event", async () => {
    const hub = fakeHub();
    hub.api.on("get-events", () => ({
      events: [{ id: "e:7", session: "s1", kind: "line", line: { type: "new_line" } }],
      resume: "ok",
    }));
    await act(async () =>
      root.render(
        <HubContext value={hub}>
          <RawEvent session="s1" id="e:7" />
        </HubContext>,
      ),
    );
    expect(hub.api.of("get-events")[0]?.query).toEqual({ after: "e:6", limit: 1 });
    expect(host.textContent).toContain("new_line");
  });
});

describe("rangesOf", () => {
  it("finds a text wherever it stands", () => {
    host.innerHTML = "<p>The Fox and <b>the fox</b></p><p>no</p>";
    expect(rangesOf(host, "fox").map(String)).toEqual(["Fox", "fox"]);
    host.textContent = "";
  });
});
