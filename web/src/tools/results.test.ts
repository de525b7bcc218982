// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import type { Tool } from "../talk/item";
import { ranOf } from "./bash";
import { changeOf } from "./edit";
import { groupMatches } from "./find";
import { todosOf } from "./lists";
import { looksLikeMarkdown, readJson, resultText, unmarked } from "./Result";
import { readingOf } from "./read";
import { askedOf } from "./records";
import { titleOf, within } from "./Title";
import { hitsOf } from "./web";

function done(text: string, structured?: Json, input: Record<string, Json> = {}): Tool {
  const result = { blocks: [], text, failed: false, ...(structured === undefined ? {} : { structured }) };
  return { kind: "tool", id: "t", use: "u", name: "Any", input, state: "done", children: [], result };
}

describe("a command", () => {
  it("takes the parts that the CLI tells", () => {
    expect(ranOf(done("out\nerr", { stdout: "out", stderr: "err", interrupted: true, backgroundTaskId: "b1" }))).toMatchObject({
      stdout: "out",
      stderr: "err",
      interrupted: true,
      task: "b1",
    });
  });

  it("takes the exit code from the text of a failure", () => {
    expect(ranOf(done("Exit code 127\nsh: nope", "Error: Exit code 127"))).toMatchObject({ exit: 127, stdout: "sh: nope" });
    expect(ranOf(done("Exit code 1"))).toMatchObject({ exit: 1, stdout: "" });
    expect(ranOf(done("Exit codes are numbers")).exit).toBeUndefined();
  });

  it("has no output if the CLI says so to the model", () => {
    expect(ranOf(done("(Bash completed with no output)")).stdout).toBe("");
  });
});

describe("a file that was read", () => {
  it("is told by the CLI, or read from the numbers before its lines", () => {
    expect(readingOf(done("", { type: "text", file: { content: "a\nb", startLine: 5, totalLines: 9 } }))).toEqual({
      text: "a\nb",
      start: 5,
      total: 9,
    });
    expect(readingOf(done("     7→one\n     8→\ttwo\n\n<system-reminder>no line of it</system-reminder>"))).toEqual({
      text: "one\n\ttwo",
      start: 7,
    });
    expect(readingOf(done("File does not exist."))).toBeUndefined();
  });
});

describe("an edit", () => {
  it("shows only what it names as shown", () => {
    expect(changeOf({ old_string: "a", new_string: "b", content: "c" })?.members).toEqual(["old_string", "new_string"]);
    expect(changeOf({ old_string: "a", new_string: 3 })).toBeUndefined();
    expect(changeOf({ edits: [{ old_string: "a", new_string: "b" }] })?.members).toEqual(["edits"]);
    expect(changeOf({ edits: [{ old_string: "a", new_string: "b", replace_all: true }] })?.members).toEqual([]);
    expect(changeOf({ edits: [{ old_string: "a", new_string: "b" }, { old_string: "a" }] })).toBeUndefined();
  });
});

describe("matches", () => {
  it("are grouped by their files, with the lines around them", () => {
    const files = groupMatches("a-b.go:3:x := 1\na-b.go-4-y\n--\nc.go:9:z: 2");
    expect(files?.map((f) => [f.path, f.matches.map((m) => `${m.line}${m.around ? "~" : ""} ${m.text}`)])).toEqual([
      ["a-b.go", ["3 x := 1", "4~ y"]],
      ["c.go", ["9 z: 2"]],
    ]);
  });

  it("are left as they are if a line is of another form", () => {
    expect(groupMatches("a.go:3:x\nno match here")).toBeUndefined();
    expect(groupMatches("")).toBeUndefined();
  });
});

describe("other results", () => {
  it("reads what is to do", () => {
    const list: Json[] = [{ content: "Fix", status: "in_progress", activeForm: "Fixing" }, { subject: "Test", id: "2" }, null];
    expect(todosOf(list)).toEqual([
      { text: "Fixing", status: "in_progress", id: "" },
      { text: "Test", status: "", id: "2" },
      { text: "", status: "", id: "" },
    ]);
  });

  it("reads what a search found", () => {
    const structured: Json = {
      results: [{ content: [{ title: "T", url: "https://a" }, { title: "no address" }] }, "said", null],
    };
    expect(hitsOf(done("", structured))).toEqual({ hits: [{ title: "T", url: "https://a" }], said: "said" });
  });

  it("puts answers to their questions", () => {
    const questions = [{ question: "Which?" }, { question: "Why?" }];
    expect(askedOf(done("", { answers: { "Which?": "This" } }, { questions }))).toEqual([
      { question: "Which?", answer: "This" },
      { question: "Why?", answer: "" },
    ]);
  });

  it("knows JSON and Markdown when it sees them", () => {
    expect(readJson('{"a":1}')).toEqual({ a: 1 });
    expect(readJson("[not JSON]")).toBeUndefined();
    expect(readJson('"a text"')).toBeUndefined();
    expect([
      looksLikeMarkdown("# Title\n\nText"),
      looksLikeMarkdown("- a\n- b"),
      looksLikeMarkdown("see [a](https://b)"),
    ]).toEqual([true, true, true]);
    expect([looksLikeMarkdown("plain text"), looksLikeMarkdown("#!/bin/sh\nls -l"), looksLikeMarkdown("-rw-r--r-- 1 a")]).toEqual(
      [false, false, false],
    );
    expect(unmarked("## Found **two** in [a](https://b)")).toBe("Found two in a");
  });

  it("takes the marks off an error", () => {
    expect(resultText(done("<tool_use_error>No such file</tool_use_error>"))).toBe("No such file");
  });
});

describe("titles", () => {
  it("do not repeat the tool", () => {
    expect(titleOf("mcp__tickets__create", { query: "login" })).toBe("login");
    expect(titleOf("mcp__tickets__create", {})).toBe("");
    expect(titleOf("Bash", { command: "go test" })).toBe("go test");
  });

  it("show paths as they are within the folder of the session", () => {
    expect(within("/home/ann/p", "/home/ann/p/cmd/a.go")).toBe("cmd/a.go");
    expect(within("/home/ann/p", "/home/ann/pp/a.go")).toBe("/home/ann/pp/a.go");
    expect(within("", "/a.go")).toBe("/a.go");
  });
});
