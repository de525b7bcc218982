import { describe, expect, it } from "vitest";
import { readLook } from "./view";

describe("readLook", () => {
  it("takes what fits and nothing else", () => {
    expect(readLook('{"states":"ended","group":"wild","sort":7}')).toEqual({ states: "ended", group: "none", sort: "updated" });
    expect(readLook("[")).toEqual({ states: "all", group: "none", sort: "updated" });
  });
});
