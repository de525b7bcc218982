// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import type { Answer, Event, Json, Question } from "../api/types";
import { aQuestion, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { Confirmations } from "../ui/confirm";
import { InboxPage } from "./InboxPage";
import { later } from "./later";
import { QuestionBar } from "./QuestionBar";
import { cardId, QuestionCard } from "./QuestionCard";

let hub: FakeHub;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  vi.stubGlobal("CSS", { escape: (text: string) => text }); // jsdom has none, and dialogs want it
  Element.prototype.scrollIntoView = () => {};
  sessionStorage.clear();
  later.set(new Set());
  hub = fakeHub();
  hub.api.on("answer-question", ({ body }) => ({ ...aQuestion(), state: "answered", by: "me", answer: body as Answer }));
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

let ids = 0;
/** A question of its own for each test, since what is typed about one is kept. */
const ask = (parts: Partial<Question> = {}): Question => aQuestion({ id: `card${ids++}`, ...parts });

async function show(node: React.ReactNode) {
  await act(async () =>
    root.render(
      <HubContext value={hub}>
        {node}
        <Confirmations />
      </HubContext>,
    ),
  );
}
const wait = (ms: number) => act(async () => vi.advanceTimersByTime(ms));
const button = (name: string) => {
  const found = [...place.querySelectorAll("button")].find((b) => b.textContent?.startsWith(name));
  if (!found) throw new Error(`there is no button ${name}: ${place.textContent}`);
  return found;
};
const click = (element: HTMLElement) => act(async () => element.click());
const card = (q: Question) => {
  const found = document.getElementById(cardId(q.id));
  if (!found) throw new Error(`there is no card of ${q.id}`);
  return found;
};
async function press(element: Element, key: string, more: KeyboardEventInit = {}) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  await act(async () => {
    element.dispatchEvent(event);
  });
  return event;
}
async function type(field: HTMLTextAreaElement | HTMLInputElement, text: string) {
  await act(async () => {
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set;
    set?.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
const field = () => {
  const found = place.querySelector("textarea");
  if (!found) throw new Error("there is no field");
  return found;
};
/** What was answered, without the ids of the answers. */
const answers = () =>
  hub.api.of("answer-question").map((c) => {
    const { client_id, ...rest } = c.body as Answer;
    expect(client_id).toMatch(/^[0-9a-f-]{36}$/);
    return { to: c.params?.id, ...rest };
  });

describe("a permission", () => {
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

  it("is denied with a reason, and with one that stops the turn", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "n");
    await type(field(), "Use make.");
    await press(field(), "Escape");
    await press(card(q), "s");
    expect(field().value).toBe("Use make.");
    await press(field(), "Enter");
    expect(answers()).toEqual([{ to: q.id, decision: "deny", message: "Use make.", interrupt: true }]);
  });

  it("is allowed with an edited command, with all the rest as it was", async () => {
    const q = ask({ request: { tool_name: "Bash", input: { command: "npm test", timeout: 5000 } } });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "e");
    await type(field(), "npm test -s");
    await click(button("Review edit"));
    expect(answers()).toEqual([]);
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow", input: { command: "npm test -s", timeout: 5000 } }]);
  });

  it("is allowed without an input if the edit changed nothing", async () => {
    const q = ask({ tool: "Write", request: { tool_name: "Write", input: { file_path: "a", content: "b" } } });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "e");
    await type(field(), '{"file_path":"a","content":');
    await click(button("Review edit"));
    expect(place.textContent).toContain("This isn't valid JSON");
    await type(field(), '{"file_path":"a","content":"b"}');
    await click(button("Review edit"));
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("is allowed always, for the session unless somebody chooses otherwise", async () => {
    const q = ask({
      suggestions: [
        { text: "nothing", update: null },
        { text: "allow Bash(ls:*)", update: { type: "addRules" }, destination: "localSettings" },
      ],
    });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    await press(card(q), "y"); // no key decides here
    await click(button("Always allow"));
    expect(answers()).toEqual([{ to: q.id, decision: "allow", always: { suggestion: 1, destination: "session" } }]);
  });

  it("is allowed in all sessions by a rule that is shown before it is made", async () => {
    const q = ask({
      suggestions: [
        {
          text: "allow Bash(ls:*)",
          update: { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "ls:*" }] },
        },
      ],
    });
    hub.api.on("get-rules-file", () => ({ path: "/etc/rules.toml", text: 'deny = ["Bash(rm:*)"]\n', hash: "h1" }));
    hub.api.on("get-policy", () => ({ rules: [] }));
    let conflict = true;
    hub.api.on("replace-rules-file", () => {
      if (conflict) throw new ApiError({ status: 409, code: "conflict", title: "The rules file is another one by now" });
      return { rules: [], pending: { sum: "s1", widens: ["allow Bash(ls:*)"] } };
    });
    hub.api.on("confirm-policy", () => ({ rules: [] }));
    hub.api.on("get-question", () => q);
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    const all = [...place.querySelectorAll("label")].find((l) => l.textContent?.startsWith("All sessions"));
    await click(all as HTMLElement);
    await click(button("Review rule…"));
    expect(place.textContent).toContain('rule = "Bash(ls:*)"');
    expect(document.activeElement).toBe(card(q));
    expect(hub.api.of("replace-rules-file")).toEqual([]);
    // The file has changed meanwhile: no rule is made, and nothing is allowed.
    await click(button("Add rule and allow"));
    expect(place.textContent).toContain("The rules file is another one by now");
    expect(hub.api.of("confirm-policy")).toEqual([]);
    expect(answers()).toEqual([]);
    conflict = false;
    await click(button("Add rule and allow"));
    expect(hub.api.of("replace-rules-file").at(-1)?.body).toEqual({
      text: 'deny = ["Bash(rm:*)"]\n\n[[rule]]\nrule = "Bash(ls:*)"\ndecision = "allow"\n',
      hash: "h1",
    });
    expect(hub.api.of("confirm-policy")).toMatchObject([{ body: { sum: "s1" } }]);
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("makes no rule for all sessions while others wait to be confirmed, nor without the scope", async () => {
    const q = ask();
    hub.api.on("get-rules-file", () => ({ path: "/etc/rules.toml", text: "", hash: "h1" }));
    hub.api.on("get-policy", () => ({ rules: [], pending: { sum: "s0", widens: ["allow *"] } }));
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    const all = () => [...place.querySelectorAll("label")].find((l) => l.textContent?.startsWith("All sessions"));
    await click(all() as HTMLElement);
    await click(button("Review rule…"));
    expect(place.textContent).toContain("changes that nobody has confirmed yet");
    await click(button("Add rule and allow"));
    expect(hub.api.of("replace-rules-file")).toEqual([]);
    expect(answers()).toEqual([]);
    await click(button("Back"));
    hub.scopes.delete("admin");
    await show(<QuestionCard question={{ ...q, title: "again" }} />);
    expect(all()?.querySelector("input")?.disabled).toBe(true);
  });

  it("says what is asked, what the agent said before, and what always would allow, in this order", async () => {
    hub.list(aSummary({ id: "s1", last_event_id: "e:2" }));
    hub.api.on("get-events", () => ({
      events: [
        {
          id: "e:1",
          kind: "line",
          seq: 1,
          line: { type: "assistant", uuid: "u1", message: { id: "m1", content: [{ type: "text", text: "I run the tests." }] } },
        },
      ] as unknown as Event[],
      resume: "ok",
    }));
    const q = ask({
      why: "This command requires approval",
      suggestions: [
        { text: "x", update: { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "l *" }] } },
      ],
    });
    await show(<QuestionCard question={q} />);
    await wait(10);
    expect(place.textContent).toMatch(/Run this command\?.*I run the tests\..*\$ ?ls.*“Always” would allow.*Bash\(l \*\)/s);
    expect(place.textContent).not.toContain("requires approval");
  });

  it("cannot be allowed if nobody knows what it is", async () => {
    const q = ask({ request: 1 });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y");
    await press(card(q), "a");
    await press(card(q), "e");
    await click(button("Allow once"));
    expect(answers()).toEqual([]);
    await press(card(q), "n");
    await press(field(), "Enter");
    expect(answers()).toEqual([{ to: q.id, decision: "deny" }]);
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

describe("a choice", () => {
  const choice = () =>
    ask({
      kind: "choice",
      choices: [
        { question: "Which?", options: [{ label: "A" }, { label: "B" }] },
        { question: "Parts?", multiple: true, options: [{ label: "X" }, { label: "Y" }, { label: "Z" }] },
      ],
    });

  it("is sent only when somebody sends it", async () => {
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

describe("a form", () => {
  const form = () =>
    ask({
      kind: "form",
      request: { mcp_server_name: "notes", requested_schema: { required: ["a"], properties: { a: { type: "string" } } } },
    });

  it("is not sent by enter, nor before it is filled in", async () => {
    const q = form();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(field(), "Enter");
    await click(button("Send form"));
    expect(answers()).toEqual([]);
    await type(field(), "y");
    await click(button("Send form"));
    expect(answers()).toEqual([{ to: q.id, decision: "accept", content: { a: "y" } }]);
  });

  it("opens a page only as a link to the web, and never by itself", async () => {
    const page = (url: string) => ask({ kind: "form", request: { mode: "url", url } });
    await show(<QuestionCard question={page("https://a.example/x?y=1")} />);
    expect(place.querySelector("a[target=_blank]")?.getAttribute("href")).toBe("https://a.example/x?y=1");
    expect(place.querySelector("a[target=_blank]")?.getAttribute("rel")).toBe("noopener noreferrer");
    await show(<QuestionCard question={page("javascript:alert(1)")} />);
    expect(place.querySelector("a[target=_blank]")).toBeNull();
    expect(place.textContent).toContain("javascript:alert(1)");
  });
});

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

  it("keeps the keyboard of whoever answers with the questions, and never puts it into the composer", async () => {
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

  it("shows nothing that was settled before", async () => {
    hub.ask(ask({ state: "answered", by: "ann", answer: { decision: "allow" } }));
    await show(<InboxPage />);
    expect(place.textContent).toContain("Nothing needs you");
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
