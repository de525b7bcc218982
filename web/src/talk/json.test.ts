import { expect, it } from "vitest";
import { arr, at, bool, clip, firstText, num, obj, oneLine, pretty, str } from "./json";

const value = { a: { b: "text", n: 7, t: true, l: [1], nan: Number.NaN } };

it("reads what is there", () => {
  expect(at(value, "a", "b")).toBe("text");
  expect([str(value, "a", "b"), num(value, "a", "n"), bool(value, "a", "t"), arr(value, "a", "l"), obj(value, "a")]).toEqual([
    "text",
    7,
    true,
    [1],
    value.a,
  ]);
  expect(firstText({ a: " ", b: 1, c: "x" }, "a", "b", "c")).toBe("x");
});

it("gives nothing for what is not there, or of another shape", () => {
  for (const odd of [undefined, null, 7, "a", [], [{ a: 1 }], { a: null }, { a: ["b"] }]) {
    expect([str(odd, "a", "b"), num(odd, "a", "b"), bool(odd, "a", "b"), arr(odd, "a", "b"), obj(odd, "a", "b")]).toEqual([
      "",
      undefined,
      false,
      [],
      {},
    ]);
  }
  expect(num(value, "a", "nan")).toBeUndefined();
  expect(str({}, "constructor", "name")).toBe("");
});

it("cuts long texts, and no character in two", () => {
  expect(clip("abc", 3)).toEqual({ text: "abc", left: 0 });
  expect(clip("abcd", 3)).toEqual({ text: "abc", left: 1 });
  expect(clip("ab👍", 3)).toEqual({ text: "ab", left: 2 });
  expect(oneLine("  a\n\n b\tc ")).toBe("a b c");
});

it("writes JSON for people, within bounds", () => {
  expect(pretty({ a: 1 }).text).toBe('{\n  "a": 1\n}');
  expect(pretty(undefined).text).toBe("undefined");
  const huge = pretty({ text: "x".repeat(1_000_000), list: Array(100_000).fill("y".repeat(100)) }, 1000);
  expect(huge.text.length).toBeLessThanOrEqual(1000);
  expect(huge.left).toBeGreaterThan(0);
  expect(huge.left).toBeLessThan(200_000); // and did not make all of it first
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  expect(typeof pretty(deep, 100).text).toBe("string");
});
