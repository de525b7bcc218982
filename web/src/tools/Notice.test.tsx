// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Folds, FoldsContext } from "../conversation/fold";
import type { Notice, Tool } from "../talk/item";
import { AgentBody } from "./Agent";
import { NoticeRow } from "./Notice";

let root: Root;
let box: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  box = document.createElement("div");
  document.body.append(box);
  root = createRoot(box);
});

afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

function press(name: RegExp): void {
  const button = [...box.querySelectorAll("button")].find((one) => name.test(one.textContent ?? ""));
  if (!button) throw new Error(`no button ${name}`);
  act(() => button.click());
}

describe("a notice", () => {
  const notice = (more: Partial<Notice>): Notice => ({
    id: "n",
    kind: "notice",
    topic: "note",
    level: "info",
    title: "Something",
    ...more,
  });
  const draw = (more: Partial<Notice>): void => act(() => root.render(<NoticeRow item={notice(more)} />));

  it("says how much it matters in words as well", () => {
    draw({ level: "bad", by: "alice" });
    expect(box.textContent).toBe("Error: Somethingby alice");
    draw({ level: "warn" });
    expect(box.textContent).toBe("Warning: Something");
    draw({ level: "info" });
    expect(box.textContent).toBe("Something");
  });

  it("shows short details at once where they matter, and folds the others", () => {
    draw({ level: "warn", detail: "why" });
    expect(box.textContent).toContain("why");
    draw({ level: "dim", topic: "hook", detail: "why" });
    expect(box.textContent).not.toContain("why");
    press(/Something/);
    expect(box.textContent).toContain("why");
  });

  it("shows what a command put out", () => {
    draw({ id: "o", level: "dim", topic: "output", detail: "Total cost: $0.01" });
    expect(box.textContent).toContain("Total cost: $0.01");
  });

  it("says how long it has been going on, as long as it does", () => {
    vi.useFakeTimers({ now: Date.parse("2026-01-01T12:00:05Z") });
    draw({ topic: "compaction", streaming: true, time: "2026-01-01T12:00:00Z" });
    expect(box.textContent).toBe("Something5s");
    act(() => void vi.advanceTimersByTime(60_000));
    expect(box.textContent).toBe("Something1m 5s");
    draw({ topic: "compaction", time: "2026-01-01T12:00:00Z" });
    expect(box.textContent).toBe("Something");
    vi.useRealTimers();
  });

  it("makes characters visible that turn letters around", () => {
    draw({ title: "a\u202eb" });
    expect(box.textContent).not.toContain("\u202e");
  });
});

describe("the card of a sub-agent", () => {
  const agent = (more: Partial<Tool>): Tool => ({
    id: "tool:a",
    kind: "tool",
    use: "a",
    name: "Task",
    input: { prompt: "Look.", description: "look", subagent_type: "reviewer", model: "opus" },
    state: "running",
    children: [],
    ...more,
  });
  const draw = (more: Partial<Tool>): void =>
    act(() => root.render(<AgentBody item={agent(more)} nested={(id) => <i key={id}>{id}</i>} />));
  const steps = (): string[] => [...box.querySelectorAll("i")].map((one) => one.textContent ?? "");

  it("shows the newest steps, and earlier ones on demand", () => {
    const children = Array.from({ length: 150 }, (_, i) => `s${i}`);
    draw({ children });
    expect(steps()).toEqual(children.slice(-20));
    press(/Show 100 earlier steps/);
    expect(steps()).toEqual(children.slice(-120));
    press(/Show 30 earlier steps/);
    expect(steps()).toEqual(children);
  });

  it("shows the step that somebody looks for, with some around it", () => {
    const children = Array.from({ length: 150 }, (_, i) => `s${i}`);
    const folds = new Folds();
    act(() =>
      root.render(
        <FoldsContext value={folds}>
          <AgentBody item={agent({ children })} nested={(id) => <i key={id}>{id}</i>} />
        </FoldsContext>,
      ),
    );
    expect(steps()).toEqual(children.slice(-20));
    act(() => folds.lead("tool:a", "s50"));
    expect(steps()).toEqual([...children.slice(40, 60), ...children.slice(-20)]);
    press(/Show 70 earlier steps/);
    expect(steps()).toEqual(children.slice(30));
    press(/Show 30 earlier steps/);
    expect(steps()).toEqual(children);
  });

  it("shows what came of it first when it is over, and the steps on demand", () => {
    const result = { blocks: [{ type: "text" as const, text: "All is well." }], text: "All is well.", failed: false };
    draw({ state: "done", result, children: ["s1", "s2"] });
    expect(box.querySelector("section")?.textContent).toContain("All is well.");
    expect(steps()).toEqual([]);
    press(/2 steps/);
    expect(steps()).toEqual(["s1", "s2"]);
  });

  it("shows what it was told on demand, and the rest of its input", () => {
    draw({});
    expect(box.textContent).toContain("opus");
    expect(box.querySelector("[aria-expanded=false]")?.textContent).toContain("Prompt");
  });

  it("shows the report of one in the background when that is over, and not that it was launched", () => {
    const result = { blocks: [], text: "Async agent launched", failed: false, structured: { isAsync: true } };
    draw({ state: "done", result, task: { id: "t", state: "running", summary: "Bash", use: "2 calls" } });
    expect(box.textContent).toContain("running2 callsBash");
    expect(box.querySelector("section")).toBeNull();
    draw({ state: "done", result, task: { id: "t", state: "completed", summary: "All is **well**." } });
    expect(box.querySelector("section")?.getAttribute("aria-label")).toBe("Report");
    expect(box.querySelector("section")?.textContent).toContain("All is well.");
    expect(box.textContent).not.toContain("launched");
  });

  it("shows the agent's own words, and says that it is in the background only if it is", () => {
    const text = "[Subagent hand-back]\n  All is **well**.\nagentId: a1\n<usage>total_tokens: 652</usage>";
    const structured = { status: "completed", content: [{ type: "text", text: "All is **well**." }], totalTokens: 652 };
    const result = { blocks: [{ type: "text" as const, text }], text, failed: false, structured };
    draw({ task: { id: "t", state: "running", summary: "Bash", use: "2 calls" } });
    expect(box.textContent).toContain("running2 callsBash");
    expect(box.textContent).not.toContain("background");
    draw({ state: "done", result, task: { id: "t", state: "completed" } });
    expect(box.querySelector("section")?.textContent).toBe("Report652 tokensAll is well.");
    expect(box.textContent).not.toMatch(/hand-back|usage|background/);
    draw({ task: { id: "t", state: "running", background: true } });
    expect(box.textContent).toContain("In the background");
  });

  it("shows why it failed or was denied", () => {
    draw({ state: "failed", result: { blocks: [{ type: "text", text: "no such agent" }], text: "no such agent", failed: true } });
    expect(box.querySelector("section")?.textContent).toBe("Failedno such agent");
    draw({ state: "denied", denied: "by bob" });
    expect(box.textContent).toContain("Denied: by bob");
  });
});
