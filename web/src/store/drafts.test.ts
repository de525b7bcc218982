// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { createDrafts } from "./drafts";

beforeEach(() => sessionStorage.clear());

test("a draft is there again after a reload, and gone once it was sent", () => {
  const draft = createDrafts(sessionStorage);
  draft("compose.s1").set("half a sen");
  expect(draft("compose.s1")).toBe(draft("compose.s1"));
  expect(createDrafts(sessionStorage)("compose.s1").get()).toBe("half a sen");
  draft("compose.s1").set("");
  expect(sessionStorage.length).toBe(0);
});

test("without storage it lasts as long as the page", () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
    length: 0,
  } as unknown as Storage;
  const draft = createDrafts(full);
  draft("k").set("text");
  expect(draft("k").get()).toBe("text");
});

test("there are not more and more of them", () => {
  const draft = createDrafts(sessionStorage);
  for (let n = 0; n < 300; n++) draft(`q${n}`).set("x");
  expect(sessionStorage.length).toBeLessThanOrEqual(200);
  expect(createDrafts(sessionStorage)("q299").get()).toBe("x");
});
