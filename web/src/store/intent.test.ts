import { expect, test } from "vitest";
import { clientIds } from "./intent";

test("the same request has the same id until it is done, and another one another", () => {
  let n = 0;
  const ids = clientIds(() => `id${++n}`);
  const of = (a: number) => ids.of({ a });
  expect([of(1), of(1), of(2), of(1)]).toEqual(["id1", "id1", "id2", "id3"]);
  ids.done();
  expect(of(1)).toBe("id4");
});
