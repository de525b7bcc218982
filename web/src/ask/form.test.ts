import { describe, expect, it } from "vitest";
import type { Json, Question } from "../api/types";
import { aQuestion } from "../store/fake";
import { contentOf, type Filled, formOf, presetOf } from "./form";

function filling(schema: Json, more: { [name: string]: Json } = {}): Question {
  return aQuestion({
    kind: "form",
    request: {
      type: "control_request",
      request: {
        subtype: "elicitation",
        mcp_server_name: "notes",
        message: "Where?",
        mode: "form",
        requested_schema: schema,
        ...more,
      },
    },
  });
}

const everyField = filling({
  type: "object",
  required: ["folder", "count"],
  properties: {
    folder: { type: "string", title: "Folder", description: "Where it goes", minLength: 2 },
    count: { type: "integer", minimum: 1, maximum: 9 },
    ratio: { type: "number" },
    pinned: { type: "boolean", default: false },
    size: { type: "string", enum: ["S", "M", "L"], enumNames: ["Small", "Medium", "Large"], default: "M" },
    colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g" }] },
    tags: { type: "array", items: { enum: ["a", "b", "c"] }, default: ["b"] },
    odd: { type: "object" },
  },
});

const fill = (q: Question, filled: Record<string, Filled> = {}) => {
  const result = contentOf(formOf(q).fields, new Map(Object.entries(filled)));
  return "content" in result ? result.content : Object.fromEntries(result.problems);
};
const one = (property: Json, filled?: Filled) =>
  fill(filling({ properties: { x: property } }), filled === undefined ? {} : { x: filled });
const needed = (property: Json, filled?: Filled) =>
  fill(filling({ required: ["x"], properties: { x: property } }), filled === undefined ? {} : { x: filled });

describe("a form", () => {
  it("has a kind for each field", () => {
    const { fields, server, message } = formOf(everyField);
    expect([server, message]).toEqual(["notes", "Where?"]);
    expect(fields.map((f) => [f.name, f.kind, f.required])).toEqual([
      ["folder", "text", true],
      ["count", "number", true],
      ["ratio", "number", false],
      ["pinned", "bool", false],
      ["size", "one", false],
      ["colour", "one", false],
      ["tags", "several", false],
      ["odd", "json", false],
    ]);
    expect(fields[4]?.options.map((o) => o.label)).toEqual(["Small", "Medium", "Large"]);
    expect(fields[5]?.options.map((o) => o.label)).toEqual(["Red", "g"]);
  });

  it("sends every kind of field as the terminal does", () => {
    expect(
      fill(everyField, {
        folder: "inbox",
        count: "3",
        ratio: "-0.5",
        pinned: "true",
        size: "2",
        colour: "0",
        tags: "0,1",
        odd: '{"k": 1}',
      }),
    ).toEqual({
      folder: "inbox",
      count: 3,
      ratio: -0.5,
      pinned: true,
      size: "L",
      colour: "r",
      tags: ["a", "b"],
      odd: { k: 1 },
    });
  });

  it("sends what it comes with, but for what is needed", () => {
    expect(fill(everyField, { folder: "ab", count: "1" })).toEqual({
      folder: "ab",
      count: 1,
      pinned: false,
      size: "M",
      tags: ["b"],
    });
  });

  it("says what is wrong with each field", () => {
    expect(fill(everyField, { folder: "a", count: "10", ratio: "0x10", odd: "{" })).toEqual({
      folder: "length",
      count: "range",
      ratio: "number",
      odd: "json",
    });
    expect(fill(everyField, { folder: "", count: "1.5" })).toEqual({ folder: "missing", count: "whole" });
  });

  it.each<[string, unknown, unknown]>([
    ["an optional text is left out", one({ type: "string" }), {}],
    ["a default is sent", one({ type: "string", default: "old" }), { x: "old" }],
    ["a default is changed", one({ type: "string", default: "old" }, "new"), { x: "new" }],
    ["a default is removed", one({ type: "string", default: "old" }, ""), {}],
    ["a default that is needed is emptied", needed({ type: "string", default: "old" }, ""), { x: "" }],
    ["a default of null is none", one({ type: "string", default: null }), {}],
    ["a text keeps its spaces", one({ type: "string" }, " a "), { x: " a " }],
    ["a text without a type", one({}, "a"), { x: "a" }],
    ["characters are counted, not their halves", one({ type: "string", maxLength: 1 }, "🙂"), { x: "🙂" }],
    ["a number is removed", one({ type: "number", default: 7 }, ""), {}],
    ["no infinity", one({ type: "number" }, "Infinity"), { x: "number" }],
    ["no number that would become null", one({ type: "number" }, "1e999"), { x: "inexact" }],
    ["no number that would become another", one({ type: "integer" }, "12345678901234567890"), { x: "inexact" }],
    ["yes", needed({ type: "boolean" }, "true"), { x: true }],
    ["no", needed({ type: "boolean" }, "false"), { x: false }],
    ["not said", one({ type: "boolean" }), {}],
    ["not said, and needed", needed({ type: "boolean" }), { x: "missing" }],
    ["said and taken back", one({ type: "boolean", default: true }, ""), {}],
    ["one of several", needed({ enum: ["a", 2, null] }, "1"), { x: 2 }],
    ["nothing as one of several", needed({ enum: ["a", 2, null] }, "2"), { x: null }],
    ["none of several", needed({ enum: ["a", "b"] }), { x: "missing" }],
    ["an option that there is not", needed({ enum: ["a"] }, "7"), { x: "missing" }],
    ["one taken back", one({ enum: ["a", "b"], default: "a" }, ""), {}],
    ["some of several", one({ type: "array", items: { enum: ["a", "b", "c"] } }, "1,2"), { x: ["b", "c"] }],
    ["none of them, said", one({ type: "array", items: { enum: ["a"] }, default: ["a"] }, ""), { x: [] }],
    ["none of them, not said", one({ type: "array", items: { anyOf: [{ const: "a" }] } }), {}],
    ["too few", needed({ type: "array", minItems: 1, items: { enum: ["a"] } }), { x: "items" }],
    ["JSON that is none", one({ type: ["string", "null"] }, "abc"), { x: "json" }],
    ["a list of anything", one({ type: "array" }, "[1, 2]"), { x: [1, 2] }],
    ["a property that is none", one(7, "a"), { x: "a" }],
  ])("%s", (_name, got, want) => {
    expect(got).toEqual(want);
  });

  it("has its fields in the order that is wanted, then as they are written", () => {
    const schema = { properties: { z: { type: "string" }, a: {}, m: {} } };
    expect(formOf(filling(schema)).fields.map((f) => f.name)).toEqual(["z", "a", "m"]);
    expect(formOf(filling(schema, { property_order: ["m", "gone", 7, "m"] })).fields.map((f) => f.name)).toEqual(["m", "z", "a"]);
  });

  it("has no fields where they cannot be read", () => {
    const odd: Json[] = [{}, 1, null, [], { properties: 7 }];
    for (const schema of odd) expect(fill(filling(schema))).toEqual({});
    expect(formOf(aQuestion({ kind: "form", request: 1 })).fields).toEqual([]);
  });

  it("takes any name for a field", () => {
    const q = filling(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as Json);
    const [field] = formOf(q).fields;
    expect(field && presetOf(field)).toBe("");
    expect(JSON.stringify(contentOf(formOf(q).fields, new Map([["__proto__", "a"]])))).toBe('{"content":{"__proto__":"a"}}');
  });

  it("may be a page", () => {
    const page = formOf(filling({ properties: { x: {} } }, { mode: "url", url: "https://notes.example/login" }));
    expect([page.url, page.fields]).toEqual(["https://notes.example/login", []]);
    expect(formOf(everyField).url).toBeUndefined();
  });
});
