import { expect, it } from "vitest";
import { youOr } from "./who";

it("calls this device You, and everybody else by name", () => {
  expect(youOr({ me: () => "console, Chrome" }, "console, Chrome")).toBe("You");
  expect(youOr({ me: () => "console, Chrome" }, "root")).toBe("root");
  expect(youOr({ me: () => undefined }, "root")).toBe("root");
  expect(youOr({ me: () => "" }, "")).toBe("");
});
