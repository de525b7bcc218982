import { describe, expect, it } from "vitest";
import { ApiError } from "../api/error";
import { aSession, aSummary, fakeHub } from "../store/fake";
import { actOn } from "./actions";

describe("actOn", () => {
  it("goes on when one fails, and says which", async () => {
    const hub = fakeHub();
    hub.api.on("stop-session", ({ params }) => {
      if (params?.id === "b") throw new ApiError({ status: 409, code: "offline", title: "The agent cannot be reached" });
      return aSession({ id: params?.id });
    });
    const sessions = ["a", "b", "c", "d", "e", "f"].map((id) => aSummary({ id }));
    const outcome = await actOn(hub.api, "stop", sessions);
    expect(outcome.done.map((s) => s.id).sort()).toEqual(["a", "c", "d", "e", "f"]);
    expect(outcome.failed.map((f) => [f.session.id, f.error.code])).toEqual([["b", "offline"]]);
  });
});
