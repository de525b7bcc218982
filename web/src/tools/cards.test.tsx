// @vitest-environment jsdom
import { act, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import type { Tool } from "../talk/item";
import { Diff } from "../ui/diff/Diff";
import { ToolCard, ToolPreview } from ".";
import { kinds } from "./kinds";

let root: Root;
let page: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  page = document.body.appendChild(document.createElement("div"));
  root = createRoot(page);
});

afterEach(async () => {
  await act(async () => root.unmount());
  page.remove();
});

async function draw(content: ReactNode): Promise<void> {
  await act(async () => root.render(<HubContext value={fakeHub()}>{content}</HubContext>));
}

async function press(button: Element | null | undefined): Promise<void> {
  if (!(button instanceof HTMLElement)) throw new Error("no such button");
  await act(async () => button.click());
}

function tool(name: string, input: Record<string, Json>, more: Partial<Tool> = {}): Tool {
  return { kind: "tool", id: "t1", use: "u1", event: "1:1", name, input, state: "done", children: [], ...more };
}

function result(text: string, structured?: Json): Tool["result"] {
  return { blocks: [{ type: "text", text }], text, failed: false, ...(structured === undefined ? {} : { structured }) };
}

/** The values of an input that a person must be able to see: texts line by line, numbers, what is true or false. */
function leaves(value: Json | undefined): string[] {
  if (typeof value === "string") return value.split("\n").filter((line) => line.trim() !== "");
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves);
  return [String(value)];
}

const shown = () => (page.textContent ?? "").replaceAll("\n", "");

describe("ToolPreview", () => {
  const inputs: [string, Record<string, Json>][] = [
    [
      "Bash",
      {
        command: "curl x | sh\nrm -rf ~",
        description: "Install",
        timeout: 5,
        dangerouslyDisableSandbox: true,
        run_in_background: false,
      },
    ],
    ["Bash", { command: { not: "a text" }, description: 7 }],
    ["Bash", { command: "", description: "", extra: "seen" }],
    ["PowerShell", { command: "Remove-Item x", description: "tidy" }],
    ["Edit", { file_path: "/etc/hosts", old_string: "one", new_string: "two", replace_all: true }],
    ["Edit", { file_path: "/a", old_string: "one", new_string: "two", content: "and three", new_source: "and four" }],
    ["Edit", { file_path: 3, old_string: null, new_string: "two" }],
    ["MultiEdit", { file_path: "/a", edits: [{ old_string: "one", new_string: "two", replace_all: true }] }],
    ["MultiEdit", { file_path: "/a", edits: [{ old_string: 5, new_string: "two" }, "three"] }],
    ["Write", { file_path: "/a", content: "line one\nline two", notebook_path: "/b" }],
    ["NotebookEdit", { notebook_path: "/n.ipynb", new_source: "print(1)", cell_id: "c9", edit_mode: "delete" }],
    ["Read", { file_path: "/etc/passwd", offset: 11, limit: 13, pages: "1-5" }],
    ["Grep", { pattern: "password", path: "/home", output_mode: "content", "-C": 3 }],
    ["Glob", { pattern: "**/*", path: "/srv" }],
    ["WebFetch", { url: "https://example.com/secret", prompt: "Send it", method: "POST" }],
    ["WebFetch", { url: "javascript:alert(1)", prompt: 3 }],
    ["WebSearch", { query: "how", allowed_domains: ["a.example"] }],
    ["SandboxNetworkAccess", { host: "example.com", port: 443, command: "curl -T x example.com" }],
    ["SandboxNetworkAccess", { host: 1, command: { not: "a text" } }],
    ["TodoWrite", { todos: [{ content: "one", status: "pending", hidden: "member" }] }],
    ["TaskCreate", { subject: "s", description: "d", owner: "o" }],
    ["Task", { description: "d", prompt: "do it\nnow", subagent_type: "x", model: "m", isolation: "worktree" }],
    ["SendMessage", { to: "ann", message: "hello there", urgent: true }],
    ["ExitPlanMode", { plan: "the plan", allowedPrompts: [{ tool: "Bash", prompt: "tests" }] }],
    ["Skill", { skill: "s", args: "--all" }],
    ["mcp__db__query", { sql: "drop table x;\n-- y", deep: { er: { est: ["value"] } } }],
    ["NobodyKnows", { a: [1, "two", { three: false }], b: null }],
  ];

  it.each(inputs)("%s shows every member of its input: %j", async (name, input) => {
    await draw(<ToolPreview name={name} input={input} />);
    for (let closed = page.querySelector("[aria-expanded=false]"); closed; closed = page.querySelector("[aria-expanded=false]"))
      await press(closed);
    for (const leaf of leaves(input)) expect(shown()).toContain(leaf);
  });

  it("shows what is no object", async () => {
    await draw(<ToolPreview name="Bash" input={["rm", 1]} />);
    expect(shown()).toContain("rm");
  });

  it("shows all of a very long command on demand", async () => {
    const command = `${"x".repeat(150_000)}END`;
    await draw(<ToolPreview name="Bash" input={{ command }} />);
    expect(shown()).not.toContain("END");
    await press([...page.querySelectorAll("button")].find((b) => b.textContent?.includes("more character")));
    expect(shown()).toContain("END");
  });

  it("shows both texts of an edit that is too long to be compared, and all of them on demand", async () => {
    const input = {
      file_path: "/a",
      old_string: `old ${"x".repeat(1_200_000)}OLDEND`,
      new_string: `new ${"y".repeat(1_200_000)}NEWEND`,
    };
    await draw(<ToolPreview name="Edit" input={input} />);
    expect(shown()).toContain("old xxx");
    expect(shown()).toContain("new yyy");
    for (const button of page.querySelectorAll("button")) await press(button);
    expect(shown()).toContain("OLDEND");
    expect(shown()).toContain("NEWEND");
  });

  it("shows all lines of a difference, and all of each line, on demand", async () => {
    const after = `${"z".repeat(3_000)}LINEEND\n${"line\n".repeat(20)}FILEEND`;
    await draw(<Diff path="/a" before="" after={after} most={5} />);
    expect(shown()).not.toContain("LINEEND");
    expect(shown()).not.toContain("FILEEND");
    for (const button of page.querySelectorAll("button")) await press(button);
    expect(shown()).toContain("LINEEND");
    expect(shown()).toContain("FILEEND");
  });

  it("does not say that nothing changes when a file is emptied", async () => {
    await draw(<ToolPreview name="Write" input={{ file_path: "/a", content: "" }} />);
    expect(shown()).toContain("Replaces the content with nothing");
    await draw(<ToolPreview name="NotebookEdit" input={{ notebook_path: "/a", new_source: "", edit_mode: "delete" }} />);
    expect(shown()).toContain("Replaces the content with nothing");
    expect(shown()).toContain("delete");
  });

  it.each([
    ["SendMessage", "message"],
    ["ExitPlanMode", "plan"],
  ])("%s shows what Markdown would hide", async (name, member) => {
    const text = "[here](https://other.example/) <!-- run it --> <b title='x'>y</b>\n\n[a]: https://third.example";
    await draw(<ToolPreview name={name} input={{ [member]: text }} />);
    for (const line of leaves(text)) expect(shown()).toContain(line);
  });

  it("says where an address leads that does not look like it", async () => {
    await draw(<ToolPreview name="WebFetch" input={{ url: "https://\u0430pple.example/x" }} />);
    expect(shown()).toContain("Leads to xn--pple-43d.example");
    await draw(<ToolPreview name="WebFetch" input={{ url: "https://apple.example/x" }} />);
    expect(shown()).not.toContain("Leads to");
  });

  it("draws a part of an input with very many members, and all of them on demand", async () => {
    const input = Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`member${i}`, i]));
    await draw(<ToolPreview name="Other" input={input} />);
    expect(page.querySelectorAll("dt").length).toBe(100);
    await press([...page.querySelectorAll("button")].find((b) => b.textContent?.includes("350 more")));
    expect(page.querySelectorAll("dt").length).toBe(450);
  });

  it("makes visible what turns letters around, and links to no scripts", async () => {
    await draw(<ToolPreview name="Bash" input={{ command: "ls \u202e# x" }} />);
    expect(shown()).toContain("⟨U+202E⟩");
    await draw(<ToolPreview name="WebFetch" input={{ url: "javascript:alert(1)" }} />);
    expect(page.querySelector("a")).toBeNull();
  });
});

describe("ToolCard", () => {
  it("says how long a call ran, without the wait for people", async () => {
    const [started, ended] = ["2026-01-01T12:00:00Z", "2026-01-01T12:01:00Z"];
    await draw(<ToolCard item={tool("Bash", { command: "true" }, { started, ended, waited: 59_500 })} />);
    expect(shown()).not.toMatch(/\d+ ?m?s/);
    await draw(<ToolCard item={tool("Bash", { command: "true" }, { started, ended, waited: 50_000 })} />);
    expect(shown()).toContain("10s");
    // It stands still while somebody is asked, however late it is now.
    const waitsSince = Date.parse(started) + 4000;
    await draw(<ToolCard item={tool("Task", {}, { state: "running", started, waited: 1000, waitsSince })} />);
    expect(shown()).toContain("3s");
  });

  it("is folded when done, with the first lines of its output, and open when pressed", async () => {
    await draw(<ToolCard item={tool("Bash", { command: "make" }, { result: result("one\ntwo\nthree\nfour\nfive") })} />);
    expect(shown()).toContain("onetwothree2 more lines");
    expect(shown()).not.toContain("five");
    await press(page.querySelector("button[aria-expanded=false]"));
    expect(shown()).toContain("five");
  });

  it.each(["running", "failed", "writing"] as const)("is open while %s", async (state) => {
    await draw(<ToolCard item={tool("Bash", { command: "make" }, { state, inputText: '{"command":"make' })} />);
    expect(page.querySelector("button[aria-expanded]")?.getAttribute("aria-expanded")).toBe("true");
    expect(page.querySelector("button[aria-expanded]")?.textContent).toMatch(/^Bashmake/);
  });

  it("says the exit code and counts lines of a difference", async () => {
    await draw(
      <ToolCard
        item={tool(
          "Bash",
          { command: "false" },
          { state: "failed", result: { ...result("Exit code 3\noops"), failed: true } as Tool["result"] },
        )}
      />,
    );
    expect(shown()).toContain("exit 3");
    const structured = { structuredPatch: [{ oldStart: 1, newStart: 1, lines: ["-same", "-old", "+same", "+new", "+newer"] }] };
    await draw(<ToolCard item={tool("Edit", { file_path: "/a.go" }, { result: result("updated", structured) })} />);
    expect(shown()).toContain("+2−1");
  });

  it("draws what an agent printed as text, never as elements", async () => {
    const text = '<script>alert(1)</script><img src=x onerror="alert(1)">';
    for (const name of ["Bash", "Read", "Grep", "WebFetch", "mcp__a__b", "Other"]) {
      await draw(<ToolCard item={tool(name, { command: text, file_path: text }, { state: "failed", result: result(text) })} />);
      expect(page.querySelector("script, img, [onerror]")).toBeNull();
      expect(shown()).toContain("<script>alert(1)</script>");
    }
  });

  it("draws a bounded part of megabytes", async () => {
    const text = `${"x".repeat(3_000_000)}\n${"line\n".repeat(500_000)}`;
    await draw(<ToolCard item={tool("Bash", { command: "yes" }, { state: "failed", result: result(text) })} />);
    expect(shown().length).toBeLessThan(150_000);
    await draw(<ToolCard item={tool("Write", { file_path: "/a.txt", content: text })} />);
    expect(page.querySelectorAll("*").length).toBeLessThan(5_000);
  });

  // Results of which nothing is as the CLI writes it.
  const strange: Json[] = [
    null,
    [null, 3],
    { stdout: 3, structuredPatch: [{ lines: 3 }, null], file: [], filenames: {}, results: [null, { content: 5 }], plan: 4 },
    { file: { content: null }, type: "text", tasks: [null, 3], answers: [], matches: [{}], task: "x", structuredContent: null },
  ];
  const inputs: Record<string, Json>[] = [
    {},
    {
      ...{ command: 3, file_path: null, todos: [null, 3], edits: [null], questions: [null, { question: 4 }] },
      ...{ url: [], plan: {}, query: 1, message: [] },
    },
  ];
  // One name of each kind.
  const names = [...new Map([...kinds].map(([name, kind]) => [kind, name])).values()];

  it.each([...names, "mcp__a__b", "mcp__", "", "constructor"])("%s bears results and inputs of any shape", async (name) => {
    const items: Tool[] = [];
    for (const input of inputs) {
      for (const structured of strange) {
        for (const state of ["done", "failed"] as const) {
          items.push(tool(name, input, { id: `t${items.length}`, state, result: result("some\ntext", structured) }));
        }
      }
    }
    await draw(items.map((item) => <ToolCard key={item.id} item={item} />));
    await act(async () => {
      for (const head of page.querySelectorAll<HTMLElement>("button[aria-expanded=false][aria-controls]")) head.click();
    });
    expect(page.querySelectorAll("button[aria-expanded=true][aria-controls]")).toHaveLength(items.length);
  });
});

it("shows what the sandbox refused during a call, also when it is folded", async () => {
  const refusal = (host: string) => ({
    kind: "network" as const,
    host,
    port: 443,
    command: "curl \u202e",
    rule: { decision: "deny" as const, rule: `Network(host:${host})`, scope: "global" as const },
  });
  const refusals = ["a.example", "b.example", "c.example", "d.example"].map(refusal);
  await draw(<ToolCard item={tool("Bash", { command: "make" }, { result: result("ok"), refusals })} />);
  expect(page.querySelector("[aria-expanded]")?.getAttribute("aria-expanded")).toBe("false");
  const list = page.querySelector('[aria-label="Refused by the sandbox"]');
  expect(list?.textContent).toContain("Sandbox refused a connection to a.example:443");
  expect(list?.textContent).toContain("curl ⟨U+202E⟩");
  expect(list?.textContent).toContain("Denied by the rule Network(host:a.example)");
  expect(list?.textContent).not.toContain("d.example");
  await press([...page.querySelectorAll("button")].find((b) => b.textContent === "Show 1 more refusal"));
  expect(list?.textContent).toContain("d.example");
});
