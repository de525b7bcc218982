// @vitest-environment jsdom
import { expect, test } from "vitest";
import { attached, giveBack, giveBackOnce, partsOf, written } from "./kept";

test("a message is taken apart, whatever its shape", () => {
  expect(partsOf({ text: "hi" })).toEqual({ text: "hi", blocks: [] });
  expect(partsOf({ content: "hi" })).toEqual({ text: "hi", blocks: [] });
  expect(partsOf({ content: [{ type: "image" }, { type: "text", text: "a" }, 4, { type: "text", text: "b" }] })).toEqual({
    text: "a\nb",
    blocks: [{ type: "image" }],
  });
  expect(partsOf({ content: { odd: true } })).toEqual({ text: "", blocks: [] });
});

test("a message that was taken back stands behind what is being written", () => {
  written("s").set("mine");
  giveBack("s", {
    content: [
      { type: "document", title: "a.md", source: { type: "text", media_type: "text/plain", data: "abc" } },
      { type: "text", text: "theirs" },
    ],
  });
  expect(written("s").get()).toBe("mine\n\ntheirs");
  expect(attached("s").get()).toMatchObject([{ name: "a.md", mediaType: "text/plain", size: 3 }]);
});

test("what comes too late is given back once, however many tabs give it back", () => {
  written("s2").set("mine");
  giveBackOnce("s2", "changed");
  giveBackOnce("s2", "changed");
  expect(written("s2").get()).toBe("mine\n\nchanged");
});

test("an image that was taken back can be shown again", () => {
  giveBack("s3", { content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }] });
  giveBack("s3", { content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "no base64!" } }] });
  expect(
    attached("s3")
      .get()
      .map((a) => [a.size, a.image?.size]),
  ).toEqual([
    [3, 3],
    [10, undefined],
  ]);
});
