import { expect, test } from "vitest";
import { appTexts as t } from "../texts/app";
import { listed } from "./Help";

const key = (keys: string, label: string) => ({ keys, label, run: () => undefined });

test("groups of one name are one, keys that do the same stand together, those without a name are not listed", () => {
  const groups = [
    { name: "List", keys: [key("j", "Next"), key("arrowdown", "Next"), key("x", "")] },
    { name: "List", keys: [key("j", "Next"), key("k", "Previous")] },
    { name: "Empty", keys: [key("z", "")] },
    { name: t.keys.everywhere, keys: [key("?", "Help")] },
  ];
  expect(listed(groups)).toEqual([
    { name: t.keys.everywhere, keys: [{ keys: "?", label: "Help" }] },
    {
      name: "List",
      keys: [
        { keys: "j / arrowdown", label: "Next" },
        { keys: "k", label: "Previous" },
      ],
    },
  ]);
});
