// @vitest-environment jsdom
import { act, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import { draft } from "../store/drafts";
import { aQuestion, aSession, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { insightTexts as t } from "../texts/insight";
import { Audit } from "./Audit";
import { Costs } from "./Costs";
import { Rules } from "./Rules";
import { TimelinePage } from "./Timeline";

let root: Root;
let container: HTMLElement;
let hub: FakeHub;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-02-03T12:00:00Z") });
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
  vi.stubGlobal("CSS", { escape: (s: string) => s });
  container = document.createElement("div");
  document.body.append(container);
  root = createRoot(container);
  hub = fakeHub();
  draft("rules-file").set("");
});

afterEach(() => {
  act(() => root.unmount());
  container.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function show(page: ReactNode) {
  await act(async () => root.render(<HubContext value={hub}>{page}</HubContext>));
  await act(async () => vi.advanceTimersByTimeAsync(0));
}

const wait = (ms: number) => act(async () => vi.advanceTimersByTimeAsync(ms));

function field(label: string): HTMLInputElement | HTMLTextAreaElement {
  const found = [...container.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")].find(
    (f) => f.getAttribute("aria-label") === label || [...(f.labels ?? [])].some((l) => l.textContent === label),
  );
  if (!found) throw new Error(`no field ${label}`);
  return found;
}

function type(label: string, text: string) {
  const f = field(label);
  act(() => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(f), "value")?.set?.call(f, text);
    f.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function press(name: string) {
  const button = [...container.querySelectorAll("button")].find((b) => b.textContent === name);
  if (!button) throw new Error(`no button ${name}`);
  await act(async () => {
    button.click();
    await vi.advanceTimersByTimeAsync(0);
  });
}

function policy() {
  hub.api.on("get-policy", () => ({ rules: [{ rule: "Bash(rm:*)", decision: "deny", scope: "global" }] }));
  hub.api.on("get-rules-file", () => ({ text: "deny = []", hash: "h1" }));
}

test("costs are shown over time and by model, and follow what sessions spend", async () => {
  let usd = 2;
  hub.list(aSummary({ usd }));
  hub.api.on("get-budgets", () => ({
    budgets: [{ action: "ask", limit: 1, name: "every day", per: "day", unit: "usd", used: 2, over: true }],
  }));
  hub.api.on("get-costs", ({ query }) => {
    const key = { day: "2026-02-03", model: "opus", dir: "/home/ann", session: "s1" }[query?.by ?? "session"];
    return { usd, turns: 3, ms: 1000, items: [{ key, usd, turns: 3, ms: 1000 }] };
  });
  await show(<Costs />);
  expect(container.textContent).toContain("$2.00");
  expect(container.textContent).toContain("opus");
  expect(container.textContent).toContain(t.budgets.over);
  expect(container.textContent).not.toContain(t.costs.total.tokens);
  expect(hub.api.of("get-costs")[0]?.query).toMatchObject({ by: "day", since: expect.stringMatching(/^2026-01-0[45]T/) });
  usd = 5;
  act(() => hub.list(aSummary({ usd })));
  await wait(3100);
  expect(container.textContent).toContain("$5.00");
});

test("decisions are listed with who decided, page by page", async () => {
  hub.list(aSummary({ title: "Blog" }));
  const item = (n: number) => ({
    decision: "allow",
    event_id: `e:${n}`,
    session: "s1",
    time: "2026-02-03T11:00:00Z",
    tool: "Bash",
    title: `ls ${n}`,
  });
  hub.api.on("get-audit", ({ query }) =>
    query?.cursor
      ? { items: [{ ...item(2), rule: { rule: "Bash(ls:*)", decision: "allow", scope: "global" } }] }
      : { items: [{ ...item(1), by: "ann" }], next: "c" },
  );
  await show(<Audit />);
  expect(container.textContent).toContain("ann");
  expect(container.querySelector("a")?.getAttribute("href")).toBe("#/s/s1/e/e%3A1");
  await press(t.more);
  expect(container.textContent).toContain(t.audit.byRule("Bash(ls:*)"));
  expect(container.querySelectorAll("li")).toHaveLength(2);
  expect([...container.querySelectorAll("button")].some((b) => b.textContent === t.more)).toBe(false);
});

test("what a sandbox refused is among the decisions", async () => {
  hub.list(aSummary({ title: "Blog" }));
  const refusal = { kind: "network" as const, host: "tracker.example", port: 443, command: "curl -sS tracker.example" };
  const item = { decision: "refused", event_id: "e:1", session: "s1", time: "2026-02-03T11:00:00Z", refusal };
  hub.api.on("get-audit", () => ({
    items: [item, { ...item, event_id: "e:2", refusal: { kind: "file", path: "/etc/shadow" } }],
  }));
  await show(<Audit />);
  expect(container.textContent).toContain("Sandbox refused a connection to tracker.example:443 curl -sS tracker.example");
  expect(container.textContent).toContain("Sandbox refused access to /etc/shadow");
});

test("a call is explained as it is typed, once for what was typed last", async () => {
  policy();
  hub.api.on("explain-call", ({ body }) => ({
    tool: body?.tool ?? "",
    message: "Use git rm.",
    rule: { rule: "Bash(rm:*)", decision: "deny", scope: "global" },
  }));
  await show(<Rules />);
  for (const text of ["r", "rm", "rm x"]) {
    type(t.rules.command, text);
    await wait(50);
  }
  await wait(300);
  expect(hub.api.of("explain-call").map((c) => c.body)).toEqual([{ tool: "Bash", input: { command: "rm x" } }]);
  expect(container.textContent).toContain(t.rules.decided.deny);
  expect(container.textContent).toContain("Use git rm.");
});

test("an edited rules file is kept, saved with its hash, and a conflict loses nothing", async () => {
  policy();
  await show(<Rules />);
  type(t.rules.editor, "deny = [1]");
  expect(draft("rules-file").get()).toContain("deny = [1]");
  hub.api.on("replace-rules-file", () => {
    hub.api.on("get-rules-file", () => ({ text: "theirs", hash: "h2" }));
    throw new ApiError({ status: 409, code: "conflict", title: "another one" });
  });
  await press(t.rules.save);
  expect(hub.api.of("replace-rules-file")[0]?.body).toEqual({ text: "deny = [1]", hash: "h1" });
  expect(container.textContent).toContain(t.rules.conflict);
  expect(container.textContent).toContain("theirs");
  expect(field(t.rules.editor).value).toBe("deny = [1]");
  hub.api.on("replace-rules-file", () => {
    hub.api.on("get-rules-file", () => ({ text: "deny = [1]", hash: "h3" }));
    return { rules: [] };
  });
  await press(t.rules.saveAnyway);
  expect(hub.api.of("replace-rules-file")[1]?.body).toEqual({ text: "deny = [1]", hash: "h2" });
  expect(draft("rules-file").get()).toBe("");
});

test("who is no admin sees rules and may not change them", async () => {
  policy();
  hub.scopes.delete("admin");
  await show(<Rules />);
  expect(container.textContent).toContain(t.rules.needAdminText);
  expect(hub.api.of("get-rules-file")).toEqual([]);
});

test("a timeline reads all pages and says what people were waited for", async () => {
  const time = (s: number) => new Date(Date.parse("2026-02-03T11:00:00Z") + s * 1000).toISOString();
  hub.api.on("get-session", () => aSession({ title: "Blog", last_event_id: "e:9", state: "idle" }));
  hub.api.on("list-questions", () => ({ questions: [] }));
  hub.api.on("get-timeline", ({ query }) =>
    query?.after
      ? { items: [{ event_id: "e:8", seq: 8, time: time(5), kind: "turn", title: "Done", ms: 5000, usd: 0.5 }] }
      : { items: [{ event_id: "e:2", seq: 2, time: time(1), kind: "tool", title: "ls -la", ms: 2000 }], more: true, next: "e:4" },
  );
  await show(<TimelinePage id="s1" />);
  expect(hub.api.of("get-timeline")).toHaveLength(2);
  expect(container.textContent).toContain(t.timeline.turn(1));
  expect(container.textContent).toContain("ls -la");
  expect(container.textContent).toContain("$0.50");
});

test("a further page of decisions that comes after the list has become another one is left out", async () => {
  const item = (n: number) => ({
    decision: "allow",
    event_id: `e:${n}`,
    session: "s1",
    time: "2026-02-03T11:00:00Z",
    title: `ls ${n}`,
  });
  type Page = { items: ReturnType<typeof item>[]; next?: string };
  const asked: ((page: Page) => void)[] = [];
  const answer = (page: Page) => act(async () => asked.shift()?.(page));
  hub.api.on("get-audit", () => new Promise((resolve) => asked.push(resolve)));
  await show(<Audit />);
  await answer({ items: [item(5)], next: "c" });
  // A question has changed: the list is read again, and begins with another one, while somebody asks for more of the old one.
  act(() => hub.ask(aQuestion()));
  await wait(2100);
  await press(t.more);
  await answer({ items: [item(6)], next: "d" });
  await answer({ items: [item(4)] });
  expect([...container.querySelectorAll("li code")].map((c) => c.textContent)).toEqual(["ls 6"]);
  await press(t.more);
  expect(hub.api.of("get-audit").at(-1)?.query).toMatchObject({ cursor: "d" });
  await answer({ items: [item(5)] });
  expect([...container.querySelectorAll("li code")].map((c) => c.textContent)).toEqual(["ls 6", "ls 5"]);
});

test("nothing can be typed into a rules file while it is saved, so that nothing typed is lost", async () => {
  policy();
  await show(<Rules />);
  type(t.rules.editor, "deny = [2]");
  let saved = () => {};
  hub.api.on(
    "replace-rules-file",
    () =>
      new Promise((resolve) => {
        saved = () => resolve({ rules: [] });
      }),
  );
  await press(t.rules.save);
  expect(field(t.rules.editor).readOnly).toBe(true);
  hub.api.on("get-rules-file", () => ({ text: "deny = [2]", hash: "h2" }));
  await act(async () => saved());
  await wait(0);
  expect(field(t.rules.editor)).toMatchObject({ readOnly: false, value: "deny = [2]" });
  type(t.rules.editor, "deny = [3]");
  expect(JSON.parse(draft("rules-file").get())).toEqual({ text: "deny = [3]", hash: "h2" });
});

test("a test of rules is of the text that is there: none at all means no rules, and another text has no result yet", async () => {
  policy();
  hub.api.on("test-rules", () => ({ calls: 7, allowed: 0, asked: 7, denied: 0 }));
  await show(<Rules />);
  type(t.rules.editor, "");
  await press(t.rules.testRun);
  expect(hub.api.of("test-rules")[0]?.body).toEqual({ text: "\n" });
  expect(container.textContent).toContain(t.rules.tested(7));
  type(t.rules.editor, "deny = [4]");
  expect(container.textContent).not.toContain(t.rules.tested(7));
});

test("what would happen is not told of a folder that is no whole path", async () => {
  policy();
  hub.api.on("explain-call", () => ({ tool: "Bash", rule: { rule: "", decision: "ask", scope: "" } }));
  await show(<Rules />);
  type(t.rules.command, "ls");
  type(t.rules.dir, "blog");
  await wait(300);
  expect(hub.api.of("explain-call")).toEqual([]);
  expect(container.textContent).toContain(t.rules.badDir);
});

test("an approved plan is not called a question, and what this device decided is called yours", async () => {
  hub.name = "console, Chrome";
  const item = { event_id: "e:1", session: "s1", time: "2026-02-03T11:00:00Z", tool: "ExitPlanMode", by: "console, Chrome" };
  hub.api.on("get-audit", () => ({
    items: [
      { ...item, decision: "ask", question: "q1" },
      { ...item, decision: "reject", question: "q2", event_id: "e:2", by: "root" },
      { ...item, decision: "ask", event_id: "e:3", rule: { rule: "Bash(git push:*)", decision: "ask", scope: "global" } },
    ],
  }));
  await show(<Audit />);
  const rows = [...container.querySelectorAll("li")].map((row) => row.textContent ?? "");
  expect(rows[0]).toMatch(/^approved.*You/);
  expect(rows[1]).toMatch(/^rejected.*root/);
  expect(rows[2]).toMatch(/^ask/);
});

test("a rules file that does not exist is said so, with an example to begin with", async () => {
  hub.api.on("get-policy", () => ({ rules: [], file: "/home/ann/rules.toml", missing: true, loaded: "2026-02-03T11:00:00Z" }));
  hub.api.on("get-rules-file", () => ({ text: "", hash: "h0" }));
  await show(<Rules />);
  expect(container.textContent).toContain("doesn’t exist yet");
  expect(container.textContent).not.toContain(", loaded");
  expect(field(t.rules.editor).placeholder).toContain("allow = [");
  await press(t.rules.useExample);
  expect(field(t.rules.editor).value).toBe(t.rules.example);
});
