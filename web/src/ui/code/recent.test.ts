import { describe, expect, it } from "vitest";
import { Recent } from "./recent";

describe("Recent", () => {
  it("drops what was not used for longest", () => {
    const recent = new Recent<number>(30);
    for (const text of ["aaa", "bbb", "ccc", "ddd", "eee", "fff", "ggg", "hhh", "iii", "jjj"]) recent.set(text, 1);
    expect(recent.get("aaa")).toBe(1);
    recent.set("kkk", 2);
    expect(recent.get("aaa")).toBe(1);
    expect(recent.get("bbb")).toBeUndefined();
    expect(recent.get("kkk")).toBe(2);
  });

  it("does not keep what is too large", () => {
    const recent = new Recent<number>(30);
    recent.set("aaaa", 1);
    expect(recent.get("aaaa")).toBeUndefined();
  });
});
