import { describe, expect, it } from "vitest";
import { intentIds } from "./intent";

describe("intentIds", () => {
  it("gives the same request the same id, and another one another", () => {
    let n = 0;
    const id = intentIds(() => `id${++n}`);
    expect([id({ a: 1 }), id({ a: 1 }), id({ a: 2 }), id({ a: 1 })]).toEqual(["id1", "id1", "id2", "id3"]);
  });
});
