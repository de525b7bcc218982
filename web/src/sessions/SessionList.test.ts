import { describe, expect, it } from "vitest";
import { aSummary } from "../store/fake";
import { target } from "./SessionList";

describe("target", () => {
  const session = (id: string) => ({ kind: "session" as const, id, session: aSummary({ id }) });
  const rows = [
    { kind: "group" as const, id: "g", label: "g", count: 2 },
    session("a"),
    { kind: "group" as const, id: "h", label: "h", count: 1 },
    session("b"),
  ];

  it("skips headings and stops at the ends", () => {
    expect(target(rows, 1, "ArrowDown")).toBe(3);
    expect(target(rows, 3, "ArrowUp")).toBe(1);
    expect(target(rows, 1, "ArrowUp")).toBeUndefined();
    expect(target(rows, 3, "ArrowDown")).toBeUndefined();
    expect(target(rows, 3, "Home")).toBe(1);
    expect(target(rows, 1, "End")).toBe(3);
    expect(target(rows, 1, "x")).toBeUndefined();
  });
});
