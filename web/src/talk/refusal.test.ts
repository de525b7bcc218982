import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { hostPort, isHostRule } from "./network";
import type { Talk } from "./talk";
import { dump, read, Script } from "./testlogs";

const refusal = {
  kind: "network",
  host: "tracker.example",
  port: 443,
  command: "curl https://tracker.example",
  tool_use_id: "t1",
  rule: { decision: "deny", rule: "Network(host:tracker.example)", scope: "global" },
};

const tool = (talk: Talk, use: string) => {
  const item = talk.item(`tool:${use}`);
  if (item?.kind !== "tool") throw new Error(`there is no call ${use}`);
  return item;
};

describe("what a sandbox refused", () => {
  it("is told in the call that ran, also if that comes later or goes", () => {
    const log = new Script();
    log.call("t1", "Bash", { command: "make" });
    log.hub("sandbox_refused", refusal);
    log.hub("sandbox_refused", { ...refusal, count: 3 });
    log.gave("t1", "failed", true);
    const talk = read(log.events);
    expect(talk.top).toEqual(["tool:t1"]);
    expect(tool(talk, "t1")).toMatchObject({ state: "failed", children: [], refusals: [refusal, { ...refusal, count: 3 }] });
    expect(talk.itemOf("e1:2")).toBe("tool:t1");

    // The page with the call has not come yet: it stands alone until then.
    const later = read(log.events.slice(1, 3));
    expect(later.top.map((id) => later.item(id)?.kind)).toEqual(["refusal", "refusal"]);
    later.event(log.events[3] as (typeof log.events)[number]);
    later.prepend(log.events.slice(0, 1));
    expect(dump(later)).toEqual(
      dump(talk).map((item) => expect.objectContaining({ ...(item as object), more: expect.anything() })),
    );
  });

  it("is told in a call of a sub-agent", () => {
    const log = new Script();
    log.call("a1", "Task", { prompt: "Fetch." });
    log.call("t1", "Bash", { command: "make" }, { parent_tool_use_id: "a1" });
    log.hub("sandbox_refused", refusal);
    const talk = read(log.events);
    expect(talk.top).toEqual(["tool:a1"]);
    expect(tool(talk, "a1").children).toEqual(["tool:t1"]);
    expect(tool(talk, "t1").refusals).toHaveLength(1);
  });

  it("is a line of its own without a call, and whatever its shape is", () => {
    const log = new Script();
    const { tool_use_id: _, ...alone } = refusal;
    log.hub("sandbox_refused", alone);
    log.hub("sandbox_refused", { kind: "file", path: "/home/ann/.ssh/id", reason: "hidden by a rule" });
    log.hub("sandbox_refused", { host: 1, port: "x", rule: "y", command: [], count: null, tool_use_id: {} } as unknown as Json);
    const talk = read(log.events);
    expect(talk.top.map((id) => talk.item(id))).toMatchObject([
      { kind: "refusal", refusal: alone },
      { kind: "refusal", refusal: { kind: "file", path: "/home/ann/.ssh/id", reason: "hidden by a rule" } },
      { kind: "refusal", refusal: { kind: "network" } },
    ]);
  });

  it("does not make a call denied that goes on without its host", () => {
    const log = new Script();
    log.call("t1", "Bash", { command: "make" });
    const asked = { id: "q1", kind: "permission", tool: "SandboxNetworkAccess", tool_use_id: "t1", request: {}, session: "s1" };
    log.hub("question_opened", { ...asked, state: "open" });
    const talk = read(log.events);
    expect(tool(talk, "t1").state).toBe("running");
    talk.event(log.hub("question_settled", { ...asked, state: "answered", by: "ann", answer: { decision: "deny" } }));
    expect(tool(talk, "t1")).toMatchObject({ state: "running" });
    expect(tool(talk, "t1").denied).toBeUndefined();
  });
});

it("says what a run is held back by, and aloud if it is not", () => {
  const log = new Script();
  log.hub("run_launched", { version: "2.1.325", sandbox: { mode: "strict", enforcer: "bubblewrap" } });
  log.hub("run_launched", { version: "2.1.325" });
  log.hub("run_launched", { version: "2.1.325", sandbox: { mode: "off", enforcer: "none" } });
  const talk = read(log.events.slice(0, 2));
  expect(talk.top.map((id) => talk.item(id))).toMatchObject([{ title: "Run 1: Claude Code 2.1.325, strict sandbox" }]);
  expect(read(log.events).top).toHaveLength(1);
  log.hub("run_launched", { version: "2.1.325", sandbox: { mode: "deny-only", enforcer: "none", reason: "no bubblewrap" } });
  const loud = read(log.events);
  expect(loud.item(loud.top.at(-1) ?? "")).toMatchObject({
    level: "bad",
    title: "Sandbox not enforced: no bubblewrap. Rules apply to tool calls only.",
  });
});

it("says that the sandbox allowed a command", () => {
  const log = new Script();
  log.call("t1", "Bash", { command: "make" });
  log.hub("decision", {
    tool: "Bash",
    tool_use_id: "t1",
    rule: { rule: "sandbox_auto_allow", decision: "allow", scope: "sandbox" },
  });
  expect(tool(read(log.events), "t1").rule).toBe("Allowed by the sandbox");
});

it("writes hosts as addresses do, and knows rules about them", () => {
  expect(hostPort("example.com", 443)).toBe("example.com:443");
  expect(hostPort("::1", 80)).toBe("[::1]:80");
  expect(hostPort("example.com", 0)).toBe("example.com");
  expect(hostPort("", 80)).toBe("");
  expect(["Network", "Network(host:a)", "NetworkX", "Bash(Network)"].map(isHostRule)).toEqual([true, true, false, false]);
});
