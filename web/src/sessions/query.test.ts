import { expect, it } from "vitest";
import { withBeginning } from "./query";

it.each([
  ["quin", "quin*"],
  ["a pear tr", "a pear tr*"],
  ["für", "für*"],
  ["quin*", "quin*"],
  ['"a pear"', '"a pear"'],
  ['"a pea', '"a pea'],
  ['"a pear" tr', '"a pear" tr*'],
  ["main.go:", "main.go:"],
  ["", ""],
])("takes the last word of %j for a beginning", (typed, want) => {
  expect(withBeginning(typed)).toBe(want);
});
