import { describe, expect, it } from "vitest";
import type { Json, Question } from "../api/types";
import { aQuestion } from "../store/fake";
import { ruleLines, withRules } from "./AlwaysForm";
import { rulesOf, suggestionText } from "./answers";
import { saysNothing } from "./parts";
import { lastWords } from "./said";
import { alikeOf, likeness } from "./Together";
import { headline, outcomeOf } from "./words";

const asks = (tool: string, input: Json, parts: Partial<Question> = {}): Question =>
  aQuestion({ tool, request: { tool_name: tool, input }, ...parts });

describe("the headline of a question", () => {
  it.each<[string, Json, string]>([
    ["Bash", { command: "ls" }, "Run this command?"],
    ["Edit", { file_path: "/src/blog/slug.go" }, "Edit slug.go?"],
    ["Write", { file_path: "C:\\src\\a.txt" }, "Write a.txt?"],
    ["Read", { file_path: "/etc/hosts" }, "Read hosts?"],
    ["NotebookEdit", { notebook_path: "/src/a.ipynb" }, "Edit a.ipynb?"],
    ["WebFetch", { url: "https://example.com:8080/a?b" }, "Fetch example.com:8080?"],
    ["WebFetch", { url: "https://example.com@evil.org/" }, "Fetch evil.org?"],
    ["WebFetch", { url: "file:///etc/passwd" }, "Fetch this page?"],
    ["WebSearch", { query: "slug" }, "Search the web?"],
    ["Task", { prompt: "look" }, "Start a sub-agent?"],
    ["Skill", { skill: "review" }, "Use the skill review?"],
    ["mcp__tickets__create", {}, "Use create from tickets?"],
    ["EnterPlanMode", {}, "Enter plan mode?"],
    ["SandboxNetworkAccess", { host: "example.com", port: 443 }, "Connect to example.com:443?"],
    ["SandboxNetworkAccess", { host: "2001:db8::1", port: 22 }, "Connect to [2001:db8::1]:22?"],
    ["SandboxNetworkAccess", { host: "a\u202eb", port: 1 }, "Connect to a⟨U+202E⟩b:1?"],
    ["SandboxNetworkAccess", {}, "Connect to a host?"],
    ["Edit", {}, "Use Edit?"],
    ["Tomorrow", {}, "Use Tomorrow?"],
  ])("%s %j", (tool, input, want) => expect(headline(asks(tool, input))).toBe(want));

  it("of other kinds", () => {
    const choice = (n: number) =>
      aQuestion({ kind: "choice", choices: Array.from({ length: n }, (_, i) => ({ question: `${i}?`, options: [] })) });
    expect(headline(choice(1))).toBe("Claude has a question");
    expect(headline(choice(3))).toBe("Claude has 3 questions");
    expect(headline(aQuestion({ kind: "plan", plan: { text: "1. Do it.", outcomes: [] } }))).toBe("Approve this plan?");
  });
});

it("what the sandbox allowed is not said to be a rule's", () => {
  const rule = { rule: "sandbox_auto_allow", decision: "allow" as const, scope: "sandbox" };
  const q = aQuestion({ state: "answered", from: "hub", rule, reason: "It holds it back.", answer: { decision: "allow" } });
  expect(outcomeOf(q)).toBe("allowed by the sandbox");
  expect(outcomeOf({ ...q, rule: { ...rule, scope: "global" } })).toBe("allowed by rule sandbox_auto_allow: It holds it back.");
});

it("a reason that says nothing is not shown", () => {
  expect(saysNothing("This command requires approval")).toBe(true);
  expect(saysNothing("Claude requested permissions to write to /a, but you haven't granted it yet.")).toBe(true);
  expect(saysNothing("Claude requested permissions to edit /a which is a sensitive file.")).toBe(false);
  expect(saysNothing("This command requires approval, since it contains a redirection")).toBe(false);
});

it("what an agent said last is told in one line, without marks", () => {
  expect(lastWords("First.\n\n**Now** I run `go test`:\n")).toBe("Now I run go test:");
  expect(lastWords("- one\n- two")).toBe("one two");
  const long = `${"Word ".repeat(100)}end. The last sentence is short.`;
  expect(lastWords(long)).toBe("The last sentence is short.");
  expect(lastWords("x".repeat(500)).length).toBeLessThan(250);
});

describe("a suggestion", () => {
  const update: { [name: string]: Json } = {
    type: "addRules",
    behavior: "allow",
    rules: [{ toolName: "Bash", ruleContent: "go test *" }, { toolName: "Read" }],
  };

  it("is told by its rules, or by the name of the mode", () => {
    expect(suggestionText({ text: "allow …", update })).toBe("Bash(go test *), Read");
    expect(rulesOf({ text: "", update: { ...update, behavior: "deny" } })).toEqual([]);
    const mode = { type: "setMode", mode: "acceptEdits" };
    expect(suggestionText({ text: "switch to mode acceptEdits", update: mode })).toContain("“Accept edits”");
    expect(suggestionText({ text: "something", update: null })).toBe("something");
  });

  it("becomes a rule at the end of the rules file, whatever stands there", () => {
    expect(withRules("", ["Read"])).toBe('[[rule]]\nrule = "Read"\ndecision = "allow"\n');
    expect(withRules('[[folder]]\npath = "/a"\n\n\n', ['Bash(echo "a\\b")'])).toBe(
      '[[folder]]\npath = "/a"\n\n[[rule]]\nrule = "Bash(echo \\"a\\\\b\\")"\ndecision = "allow"\n',
    );
    expect(ruleLines(["a\u007f\nb"])).toContain('rule = "a\\u007f\\nb"');
  });
});

describe("questions that are alike", () => {
  const bash = (id: string, command: string, description = "") => asks("Bash", { command, description }, { id });

  it("have the same input, whatever is said about a command", () => {
    const list = [bash("a", "go test", "Run"), bash("b", "go vet"), bash("c", "go test", "Try"), bash("d", "go  test")];
    expect([...alikeOf(list).values()].map((group) => group.map((q) => q.id))).toEqual([["a", "c"]]);
    expect(likeness(asks("Write", { description: "a" }))).not.toBe(likeness(asks("Write", { description: "b" })));
  });

  it("are none that have to be looked at by themselves", () => {
    expect(likeness(bash("a", "x".repeat(3000)))).toBeUndefined();
    expect(likeness(bash("a", "ls\u202e"))).toBeUndefined();
    expect(likeness(aQuestion({ kind: "choice" }))).toBeUndefined();
    expect(likeness(aQuestion({ state: "answered" }))).toBeUndefined();
    expect(likeness(aQuestion({ request: { tool_name: "Bash", input: { command: "a" }, default_to_no: true } }))).toBeUndefined();
    expect(likeness(aQuestion({ request: 1 }))).toBeUndefined();
  });
});
