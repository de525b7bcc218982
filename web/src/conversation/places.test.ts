import { expect, it } from "vitest";
import { Folds } from "./fold";
import { Places, type Reading } from "./places";

const at = (id: string): Reading => ({ id, event: "e:1", above: 3, folds: new Folds() });

it("remembers where somebody was, until they leave at the end", () => {
  const places = new Places();
  places.keep("s", at("a"));
  places.keep("s", at("b"));
  expect(places.get("s")?.id).toBe("b");
  places.keep("s", undefined);
  expect(places.get("s")).toBeUndefined();
});

it("forgets the oldest of very many", () => {
  const places = new Places();
  for (let i = 0; i < 100; i++) places.keep(`s${i}`, at("a"));
  places.keep("s0", at("again"));
  places.keep("new", at("a"));
  expect(places.get("s0")?.id).toBe("again");
  expect(places.get("s1")).toBeUndefined();
  expect(places.get("new")).toBeDefined();
});
