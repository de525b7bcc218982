// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "../api/error";
import { aQuestion, aSession, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { draw, erase, find, press } from "./draw";
import { WelcomePage } from "./WelcomePage";

let hub: FakeHub;

beforeEach(() => {
  hub = fakeHub();
  location.hash = "";
});

afterEach(erase);

describe("WelcomePage", () => {
  it("starts an example in the folder of a session that there is", async () => {
    hub.list(aSummary({ dir: "/src/blog" }));
    hub.api.on("create-session", () => aSession({ id: "s7" }));
    await draw(hub, <WelcomePage />);
    await press(find("button", "A plan"));
    expect(hub.api.of("create-session")[0]?.body).toMatchObject({ dir: "/src/blog", options: { permission_mode: "plan" } });
    expect(location.hash).toBe("#/s/s7");
  });

  it("says what went wrong, and can be tried again", async () => {
    hub.list(aSummary());
    hub.api.on("create-session", () => {
      throw new ApiError({
        status: 502,
        code: "start_failed",
        title: "The agent could not be started",
        hint: "Look at the log.",
      });
    });
    await draw(hub, <WelcomePage />);
    await press(find("button", "A question"));
    expect(document.body.textContent).toContain("Look at the log.");
    await press(find("button", "A question"));
    expect(hub.api.of("create-session").length).toBe(2);
  });

  it("has examples for simulated agents alone, and for those who may start them", async () => {
    hub.info.set({ api: "v1", version: "test", capabilities: [] });
    await draw(hub, <WelcomePage />);
    expect(() => find("button", "A plan")).toThrow();
    await erase();
    hub = fakeHub();
    hub.scopes.delete("admin");
    await draw(hub, <WelcomePage />);
    expect(() => find("button", "A plan")).toThrow();
  });

  it("counts open questions, not those that were settled a moment ago", async () => {
    hub.list(aSummary());
    hub.ask(aQuestion(), aQuestion({ id: "q2", state: "answered" }));
    await draw(hub, <WelcomePage />);
    expect(find("a", /open question/).textContent).toBe("1 open question");
  });
});
