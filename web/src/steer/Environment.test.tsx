// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { draw, erase, find, press, type } from "../sessions/draw";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { EnvironmentPanel } from "./Environment";
import { keepable, keepRules, withRules } from "./keepRules";

let hub: FakeHub;

beforeEach(() => {
  hub = fakeHub();
});

afterEach(erase);

const snapshot = aSession({ id: "s1", state: "idle", dir: "/src/blog" });
const show = () => draw(hub, <EnvironmentPanel session={hub.open("s1")} snapshot={snapshot} />);
const value = () => find("input", /^Value/) as HTMLInputElement;

it("sends a variable, and keeps its value nowhere", async () => {
  hub.api.on("set-environment", () => undefined);
  await show();
  expect(value().type).toBe("password");
  await type(find("input", /^Name/), "DEPLOY_TOKEN");
  await type(value(), "hush-hush");
  await press(find("button", "Set variable"));
  await vi.waitFor(() => expect(document.body.textContent).toContain("DEPLOY_TOKEN was set"));
  expect(hub.api.of("set-environment").map((c) => c.body)).toEqual([{ variables: { DEPLOY_TOKEN: "hush-hush" } }]);
  expect(value().value).toBe("");
  expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain("hush-hush");
});

it("says what is wrong, and lets it be tried again", async () => {
  await show();
  await type(find("input", /^Name/), "1X");
  await press(find("button", "Set variable"));
  expect(document.body.textContent).toContain("not starting with a digit");
  expect(hub.api.of("set-environment")).toEqual([]);
  hub.api.on("set-environment", () => {
    throw new ApiError({ status: 422, code: "unsupported", title: "This version takes no variables" });
  });
  await type(find("input", /^Name/), "LANG");
  await type(value(), "C");
  await press(find("button", "Set variable"));
  await vi.waitFor(() => expect(document.body.textContent).toContain("This version takes no variables"));
  expect(value().value).toBe("C");
});

it("keeps the rules of a session for its folder", async () => {
  const rule = (rule: string, decision: "allow" | "ask" | "deny", more = {}) => ({
    id: rule,
    rule,
    decision,
    created: "2026-03-01T12:00:00Z",
    ...more,
  });
  const rules = keepable([
    rule("Bash(ls:*)", "allow"),
    rule("Bash(rm:*)", "deny"),
    rule("Write", "ask"),
    rule("*", "allow", { expires: "2026-03-01T13:00:00Z" }),
    rule("Read", "allow", { expires: "2026-03-01T13:00:00Z" }),
  ]);
  expect(rules.map((r) => r.rule)).toEqual(["Bash(ls:*)", "Bash(rm:*)"]);
  expect(withRules({ model: "opus", allow: ["Bash(ls:*)"] }, rules)).toEqual({
    model: "opus",
    allow: ["Bash(ls:*)"],
    deny: ["Bash(rm:*)"],
  });
  hub.api.on("get-preferences", () => ({
    person: "ada",
    saved: [
      { model: "everywhere", updated: "2026-03-01T12:00:00Z" },
      { dir: "/src/blog", permission_mode: "plan", sandbox: "strict", allow: ["Read"], updated: "2026-03-01T12:00:00Z" },
    ],
    effective: {},
  }));
  hub.api.on("save-preferences", () => ({ updated: "2026-03-01T12:00:00Z" }));
  await keepRules(hub, "/src/blog", rules);
  expect(hub.api.of("save-preferences").map((c) => c.body)).toEqual([
    { dir: "/src/blog", permission_mode: "plan", sandbox: "strict", allow: ["Read", "Bash(ls:*)"], deny: ["Bash(rm:*)"] },
  ]);
});
