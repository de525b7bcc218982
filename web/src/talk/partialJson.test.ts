import { expect, it } from "vitest";
import { partialObject } from "./partialJson";

it("reads an object as far as it has come, at every place", () => {
  const whole = { command: 'say "hä\\n\u0007" 👍', list: [1, { deep: [true, null] }], n: -1.5e3, __proto__x: "", last: "end" };
  const text = JSON.stringify(whole);
  for (let end = 0; end <= text.length; end++) {
    const part = partialObject(text.slice(0, end));
    for (const [name, value] of Object.entries(part)) {
      const full = whole[name as keyof typeof whole];
      if (typeof value === "string") expect(String(full).startsWith(value.replace(/\ud83d$/, ""))).toBe(true);
      else if (typeof value === "number") expect(value).toBe(full);
    }
  }
  expect(partialObject(text)).toEqual(whole);
  expect(partialObject('{"command":"make \\u00')).toEqual({ command: "make " });
  expect(partialObject('{"command":"make","x')).toEqual({ command: "make" });
  expect(partialObject('{"a":12')).toEqual({}); // it may be 123
});

it("gives nothing for what is no object", () => {
  for (const text of ["", "[", "7 ", '"x"', "{", "}", "{]", "nonsense", '{"a" 1}']) expect(partialObject(text)).toEqual({});
  expect(partialObject("[".repeat(10_000))).toEqual({});
  expect(Object.keys(partialObject('{"__proto__":{"x":1}}'))).toEqual(["__proto__"]);
});
