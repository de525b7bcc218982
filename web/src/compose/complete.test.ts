import { expect, test } from "vitest";
import { complete, isWhole, offerCommands, offerFiles, wordAt } from "./complete";

const commands = [
  { name: "compact", hint: "Shorten it", args: "[how]" },
  { name: "context", hint: "", args: "" },
  { name: "security-review", hint: "", args: "" },
];

test.each([
  ["/co", 3, { kind: "command", from: 0, text: "co" }],
  ["/co x", 5, undefined],
  ["say /co", 7, undefined],
  ["look at @src/ma", 15, { kind: "file", from: 8, text: "src/ma" }],
  ["(@a", 3, { kind: "file", from: 1, text: "a" }],
  ["ann@example.org", 15, undefined],
  ['@"my fi', 7, { kind: "file", from: 0, text: "my fi" }],
  ['@"my file" ', 11, undefined],
  ["@a b", 4, undefined],
  ["@", 1, { kind: "file", from: 0, text: "" }],
  ["", 0, undefined],
] as const)("the word of %j at %i", (text, pos, word) => {
  expect(wordAt(text, pos)).toEqual(word);
});

test("commands that begin so come before those that contain it", () => {
  expect(offerCommands("co", commands).map((o) => o.label)).toEqual(["/compact", "/context"]);
  expect(offerCommands("review", commands).map((o) => o.label)).toEqual(["/security-review"]);
  expect(offerCommands("CO", commands)[0]).toEqual({ label: "/compact", hint: "[how] · Shorten it", insert: "/compact " });
});

test("paths are offered once, quoted where they must be, and folders go on", () => {
  expect(offerFiles("ma", ["src/main.ts", "docs/summary.md", "src/main.ts"]).map((o) => o.insert)).toEqual([
    "@src/main.ts ",
    "@docs/summary.md ",
  ]);
  expect(offerFiles("", ["my file.md", "src/", 'bad"name', "bad\u001b"]).map((o) => o.insert)).toEqual([
    '@"my file.md" ',
    "@src/",
  ]);
});

test("completing replaces the word and puts one space behind it", () => {
  const text = "see @ma please";
  const word = wordAt(text, 7);
  const [offer] = offerFiles("ma", ["src/main.ts"]);
  if (!word || !offer) throw new Error("nothing to complete");
  expect(complete(text, 7, word, offer)).toEqual({ text: "see @src/main.ts please", pos: 16 });
});

test("what stands there already is whole", () => {
  const word = wordAt("/context", 8);
  const [offer] = offerCommands("context", commands);
  if (!word || !offer) throw new Error("nothing to complete");
  expect(isWhole("/context", 8, word, offer)).toBe(true);
  expect(isWhole("/cont", 5, { ...word, text: "cont" }, offer)).toBe(false);
});

test("what is written already comes first, so that enter sends it", () => {
  const list = [
    { name: "context-usage", hint: "", args: "" },
    { name: "context", hint: "", args: "" },
  ];
  expect(offerCommands("context", list).map((o) => o.label)).toEqual(["/context", "/context-usage"]);
  expect(offerFiles("a.go", ["a.go.orig", "a.go"]).map((o) => o.label)).toEqual(["a.go", "a.go.orig"]);
});

test("what the agent suggested for a word is offered, also if it does not hold it", () => {
  expect(offerFiles("slg", ["README.md"], ["slug.go", 'odd"name']).map((o) => o.label)).toEqual(["slug.go"]);
});
