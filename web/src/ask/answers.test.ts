import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Answer, Json, Question, Suggestion } from "../api/types";
import { aQuestion } from "../store/fake";
import {
  accept,
  allow,
  alwaysRule,
  alwaysSuggestion,
  cancel,
  choose,
  chooseResult,
  decline,
  deny,
  destinationsOf,
  type Given,
  isAnswerable,
  isOfTomorrow,
  nothingGiven,
  suggestionsOf,
  withLabel,
  withSkip,
  withText,
} from "./answers";
import { approve, outline, reject, revise } from "./plan";

const nothing = { bypass: false, compact: false, noPrompts: false };

const choice = aQuestion({
  kind: "choice",
  tool: "AskUserQuestion",
  choices: [
    { question: "Which database?", header: "Database", options: [{ label: "SQLite" }, { label: "PostgreSQL" }] },
    {
      question: "Which parts?",
      header: "Parts",
      multiple: true,
      options: [{ label: "API" }, { label: "Console" }, { label: "Docs" }],
    },
  ],
});

const plan = aQuestion({
  kind: "plan",
  tool: "ExitPlanMode",
  plan: {
    text: "1. Write the tests.\n2. Fix the parser.",
    prompts: [{ tool: "Bash", prompt: "run the tests" }],
    outcomes: ["fresh", "accept_edits", "ask", "revise", "reject", "outline"],
    bypass: true,
  },
});

const given = (parts: Partial<Given>): Given => ({ ...nothingGiven, ...parts });

function chosen(...list: Partial<Given>[]): Answer {
  const result = choose(choice, list.map(given));
  if (!("answer" in result)) throw new Error(`question ${result.missing} has no answer`);
  return result.answer;
}

const image = { type: "image" as const, source: { type: "base64" as const, media_type: "image/png", data: "iVBORw0KGgo=" } };

// Every answer that docs/questions.md shows, and what the console makes of the same decision.
const made: readonly Answer[] = [
  allow(),
  allow({ input: { command: "npm test -- --silent" } }),
  allow({ always: alwaysSuggestion(0, undefined) }),
  allow({ always: alwaysSuggestion(0, "localSettings") }),
  allow({ always: alwaysRule(" Bash(npm run:*) ", "session") }),
  allow({ always: alwaysRule("Bash(npm run:*)", "switchboard") }),
  deny(""),
  deny(" Use the Makefile: make test\n"),
  deny("Stop here.", true),
  chosen({ labels: ["SQLite"] }, { labels: ["API", "Console"] }),
  chosen({ text: "The one we have" }, { labels: ["API"], text: "and the docs", notes: "The console can wait." }),
  chosen({ labels: ["PostgreSQL"] }, { skip: true }),
  deny("Decide yourself."),
  deny("Use the mirror."),
  approve(plan, "fresh", nothing),
  approve(plan, "fresh", { ...nothing, bypass: true }),
  approve(plan, "accept_edits", { ...nothing, edited: "1. Write the tests.\n2. Fix the parser.\n3. Update the docs." }),
  approve(plan, "accept_edits", { ...nothing, bypass: true }),
  approve(plan, "ask", { ...nothing, compact: true, noPrompts: true }),
  revise("The parser is not ours. Leave it.", []) ?? {},
  revise(" ", [image]) ?? {},
  reject("", false),
  reject("We do not need it any more.", true),
  outline,
  accept({ folder: "inbox", pinned: true }),
  decline,
  cancel,
  chooseResult({ branch: "main" }),
];

describe("the answers of docs/questions.md", () => {
  const text = readFileSync(new URL("../../../docs/questions.md", import.meta.url), "utf8");
  const documented = [...text.matchAll(/^answer QUESTION '(.*)'$/gm)].map((m) => JSON.parse(m[1] ?? "") as Json);

  it("are all there", () => {
    expect(documented.length).toBeGreaterThanOrEqual(29);
  });

  it.each(documented.map((d) => [JSON.stringify(d), d] as const))("%s is one of ours", (_name, answer) => {
    expect(made).toContainEqual(answer);
  });

  it.each(made.map((m) => [JSON.stringify(m), m] as const))("%s is one of theirs", (_name, answer) => {
    expect(documented).toContainEqual(answer);
  });
});

describe("a permission", () => {
  it("is allowed with nothing that was not decided", () => {
    expect(Object.keys(allow())).toEqual(["decision"]);
    expect(allow({ input: { command: "ls" }, always: alwaysSuggestion(1, "session") })).toEqual({
      decision: "allow",
      input: { command: "ls" },
      always: { suggestion: 1, destination: "session" },
    });
  });

  it("keeps an input that is an empty object", () => {
    expect(allow({ input: {} })).toEqual({ decision: "allow", input: {} });
  });

  it("is denied without a message that is blank", () => {
    expect(Object.keys(deny(" \n "))).toEqual(["decision"]);
  });

  const update = (type: string): Suggestion => ({ text: `do ${type}`, update: { type }, destination: "session" });

  it("keeps the number of a suggestion where another one is nothing", () => {
    const q = aQuestion({ suggestions: [{ text: "nothing", update: null }, update("addRules")] });
    expect(suggestionsOf(q).map((s) => s.index)).toEqual([1]);
    expect(suggestionsOf(aQuestion({ suggestions: null }))).toEqual([]);
  });

  it("keeps a suggestion of a kind that is not known where the CLI does", () => {
    expect(isOfTomorrow(update("addRules"))).toBe(false);
    expect(isOfTomorrow(update("addPlanets"))).toBe(true);
    expect(destinationsOf({ suggestion: update("addPlanets") })).toEqual([undefined]);
    expect(alwaysSuggestion(2, undefined)).toEqual({ suggestion: 2 });
  });

  it("keeps only rules in switchboard", () => {
    expect(destinationsOf({ suggestion: update("setMode") })).not.toContain("switchboard");
    expect(destinationsOf({ rule: "Bash" })).toEqual([
      "session",
      "localSettings",
      "projectSettings",
      "userSettings",
      "switchboard",
    ]);
  });
});

describe("a choice", () => {
  const options = ["API", "Console", "Docs"];

  it("has one label, or own words, where one may be chosen", () => {
    const one = withLabel(given({ labels: ["SQLite"], text: "mine" }), "PostgreSQL", ["SQLite", "PostgreSQL"], false);
    expect(one).toEqual(given({ labels: ["PostgreSQL"] }));
    expect(withText(one, "mine", false)).toEqual(given({ text: "mine" }));
    expect(withText(one, " ", false).labels).toEqual(["PostgreSQL"]);
  });

  it("has labels in the order in which they are offered, and takes them back", () => {
    let g = withLabel(withLabel(nothingGiven, "Docs", options, true), "API", options, true);
    expect(g.labels).toEqual(["API", "Docs"]);
    g = withLabel(g, "API", options, true);
    expect(g.labels).toEqual(["Docs"]);
    expect(withText(g, "and tests", true)).toEqual(given({ labels: ["Docs"], text: "and tests" }));
  });

  it("is not skipped any more once something is chosen, and nothing stays chosen once it is skipped", () => {
    expect(withLabel(given({ skip: true }), "API", options, true).skip).toBe(false);
    expect(withText(given({ skip: true }), "mine", true).skip).toBe(false);
    expect(withSkip(given({ labels: ["API"], text: "mine", notes: "n" }), true)).toEqual(given({ skip: true }));
  });

  it("says which question has no answer", () => {
    expect(choose(choice, [given({ labels: ["SQLite"] }), given({ text: " ", notes: "only a note" })])).toEqual({ missing: 1 });
    expect(choose(choice, [])).toEqual({ missing: 0 });
  });

  it("is refused if all of it is skipped: the hub takes no answer without one", () => {
    expect(chosen({ skip: true }, { skip: true })).toEqual({ decision: "deny" });
  });

  it("is read from the request where the hub has not", () => {
    const raw = aQuestion({
      kind: "choice",
      request: {
        request: {
          tool_name: "AskUserQuestion",
          input: { questions: [{ question: "Now?", options: [{ label: "Yes" }, 7] }, "odd"] },
        },
      },
    });
    expect(choose(raw, [given({ labels: ["Yes"] })])).toEqual({
      answer: { decision: "allow", choices: { "Now?": { labels: ["Yes"] } } },
    });
  });

  it("takes any text as the name of an answer", () => {
    const q = aQuestion({ kind: "choice", choices: [{ question: "__proto__", options: [{ label: "a" }] }] });
    const result = choose(q, [given({ labels: ["a"] })]);
    expect(JSON.stringify(result)).toBe('{"answer":{"decision":"allow","choices":{"__proto__":{"labels":["a"]}}}}');
  });

  it("cannot be answered if two questions have one name", () => {
    const twins: Question = aQuestion({ kind: "choice", choices: [{ question: "Which?" }, { question: "Which?" }] });
    expect(isAnswerable(twins)).toBe(false);
    expect(isAnswerable(choice)).toBe(true);
    expect(isAnswerable(aQuestion({ kind: "choice", request: 1 }))).toBe(false);
  });
});

describe("a form or a page", () => {
  it("is accepted with fields, a page without", () => {
    expect(accept({})).toEqual({ decision: "accept", content: {} });
    expect(Object.keys(accept())).toEqual(["decision"]);
  });
});
