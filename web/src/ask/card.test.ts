import { expect, test } from "vitest";
import { askTexts as t } from "../texts/ask";
import { answerKeys, listedKeys } from "./card";

test("every key that answers a question is in the list of keys, and no other is", () => {
  const listed = listedKeys.map(({ keys }) => keys);
  const letters = [...answerKeys].filter((key) => !/[02-9]/.test(key)); // the first digit stands for all
  expect([...listed].sort()).toEqual([...letters, "enter"].sort());
  expect(t.keyOfCard["1"]).toContain("2 to 9");
});
