import { expect, test } from "vitest";
import { FakeSession } from "../store/fake";
import { findMessage } from "./message";

const session = new FakeSession("s");
session.put(
  { kind: "prompt", id: "1", uuid: "p1", blocks: [{ type: "text", text: "first" }] },
  { kind: "text", id: "2", uuid: "a1", text: "answer" },
  { kind: "thinking", id: "3", text: "hm" },
  {
    kind: "prompt",
    id: "4",
    uuid: "p2",
    blocks: [
      { type: "image", mediaType: "image/png" },
      { type: "text", text: "second" },
    ],
  },
);

test("a prompt can be written anew after what the agent said before it", () => {
  expect(findMessage(session, "p2")).toMatchObject({ text: "second", before: "a1" });
});

test("before the first one there is nothing", () => {
  const found = findMessage(session, "p1");
  expect(found?.text).toBe("first");
  expect(found?.before).toBeUndefined();
});

test("a message that was not loaded is not found", () => {
  expect(findMessage(session, "gone")).toBeUndefined();
});
