import { expect, test } from "vitest";
import { badgedIcon, pageTitle } from "./badge";

test("the title says how many questions wait, and where one is", () => {
  expect(pageTitle({ page: "inbox" }, undefined, 0)).toBe("Inbox – Switchboard");
  expect(pageTitle({ page: "session", id: "s1" }, "Checkout", 3)).toBe("(3) Checkout – Switchboard");
  expect(pageTitle({ page: "session", id: "s1" }, undefined, 0)).toBe("Session – Switchboard");
  expect(pageTitle({ page: "session", id: "s1" }, "a\u202eb", 0)).not.toContain("\u202e");
});

test("the icon has the number, cut at nine", () => {
  expect(decodeURIComponent(badgedIcon(3))).toContain(">3</text>");
  expect(decodeURIComponent(badgedIcon(12))).toContain(">9+</text>");
});
