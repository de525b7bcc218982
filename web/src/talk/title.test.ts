import { expect, it } from "vitest";
import { mcpName, toolName, toolTitle } from "./title";

it("says in a line what a call is about", () => {
  const titles: [string, Parameters<typeof toolTitle>[1], string][] = [
    ["Bash", { command: "go test ./...\ngo vet", description: "Test" }, "go test ./... go vet"],
    ["Read", { file_path: "/a/b.go" }, "/a/b.go"],
    ["Read", { file_path: "/a/b.go", offset: 10, limit: 5 }, "/a/b.go:10-14"],
    ["Edit", { file_path: "/a", old_string: "x", new_string: "y" }, "/a"],
    ["NotebookEdit", { notebook_path: "/n.ipynb", new_source: "x" }, "/n.ipynb"],
    ["Grep", { pattern: "x+", path: "src" }, "x+ in src"],
    ["Glob", { pattern: "**/*.ts" }, "**/*.ts"],
    ["WebFetch", { url: "https://example.com", prompt: "what" }, "https://example.com"],
    ["WebSearch", { query: "weather" }, "weather"],
    ["Task", { subagent_type: "reviewer", description: "look", prompt: "Look." }, "reviewer: look"],
    ["Agent", { description: "look", prompt: "Look." }, "look"],
    ["Skill", { skill: "pdf" }, "pdf"],
    ["TaskCreate", { subject: "One" }, "One"],
    ["TaskUpdate", { taskId: "2", status: "completed" }, "#2 completed"],
    ["KillShell", { shell_id: "s1" }, "s1"],
    ["BashOutput", { bash_id: "b1" }, "b1"],
    [
      "TodoWrite",
      {
        todos: [
          { content: "a", status: "completed" },
          { content: "b", activeForm: "Doing b", status: "in_progress" },
        ],
      },
      "1 of 2 done: Doing b",
    ],
    ["AskUserQuestion", { questions: [] }, ""],
    ["ExitPlanMode", { plan: "x" }, ""],
    ["LSP", { operation: "hover", filePath: "/a.ts" }, "hover /a.ts"],
    ["SendMessage", { to: "worker", message: "go" }, "to worker: go"],
    ["mcp__tickets__create_one", { query: "bug" }, "tickets: create_one, bug"],
    ["mcp__tickets__list", {}, "tickets: list"],
    ["Unheard", { colour: "green", size: 7, list: [1] }, "colour: green, size: 7, list: …"],
    ["Unheard", {}, ""],
  ];
  for (const [name, input, want] of titles) expect(toolTitle(name, input), name).toBe(want);
});

it("is bounded, whatever it is given", () => {
  expect(toolTitle("Bash", { command: "x".repeat(1e6) })).toHaveLength(1000);
  expect(toolTitle("X", { a: "y".repeat(1e6), b: "y".repeat(1e6) }).length).toBeLessThan(1000);
  expect(toolTitle("TodoWrite", { todos: [null, 7, "x"] })).toBe("0 of 3 done");
});

it("names tools of MCP servers", () => {
  expect(mcpName("mcp__a_b__c__d")).toEqual({ server: "a_b", tool: "c__d" });
  expect([mcpName("Bash"), mcpName("mcp__x"), mcpName("mcp____")]).toEqual([undefined, undefined, undefined]);
  expect([toolName("mcp__tickets__list"), toolName("Bash")]).toEqual(["tickets: list", "Bash"]);
});
