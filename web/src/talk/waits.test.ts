import { expect, it } from "vitest";
import type { Tool } from "./item";
import { read, Script } from "./testlogs";

function tools(log: Script): (Tool | undefined)[] {
  const talk = read(log.events);
  return [...new Set(log.events.flatMap(({ line }) => JSON.stringify(line ?? null).match(/toolu_\w/g) ?? []))].map((use) => {
    const item = talk.item(`tool:${use}`);
    return item?.kind === "tool" ? item : undefined;
  });
}

/** Asks about a call, and answers after so many events, which is so many seconds. */
function ask(log: Script, use: string, seconds: number): void {
  const question = { id: `q ${use}`, session: "s1", kind: "permission", tool_use_id: use, opened: log.next };
  log.hub("question_opened", { ...question, state: "open" });
  for (let n = 1; n < seconds; n++) log.hub("state", { state: "requires_action" });
  log.hub("question_settled", { ...question, state: "answered", settled: log.next, answer: { decision: "allow" } });
}

function ran(tool: Tool | undefined): number {
  return Date.parse(tool?.ended ?? "") - Date.parse(tool?.started ?? "") - (tool?.waited ?? 0);
}

it("does not count the wait for people as time that a call took", () => {
  const log = new Script();
  log.call("toolu_a", "Bash", { command: "true" });
  ask(log, "toolu_a", 58);
  log.gave("toolu_a", "");
  const [tool] = tools(log);
  expect(tool).toMatchObject({ state: "done", waited: 58_000 });
  expect(ran(tool)).toBe(2000);
});

it("counts the wait of a call for those that had their turn after it, and for the call whose agent it is", () => {
  const log = new Script();
  log.call("toolu_p", "Task", {});
  log.call("toolu_a", "Bash", {}, { parent_tool_use_id: "toolu_p" });
  log.call("toolu_b", "Bash", {}, { parent_tool_use_id: "toolu_p" });
  ask(log, "toolu_a", 30);
  log.gave("toolu_a", "", false, { parent_tool_use_id: "toolu_p" });
  log.gave("toolu_b", "", false, { parent_tool_use_id: "toolu_p" });
  log.gave("toolu_p", "");
  expect(tools(log).map((tool) => tool?.waited)).toEqual([30_000, 30_000, 30_000]);
});

it("does not hold up what runs while somebody else asks", () => {
  const log = new Script();
  log.call("toolu_p", "Task", { run_in_background: true });
  log.gave("toolu_p", "launched");
  log.call("toolu_b", "Bash", { command: "make" });
  log.call("toolu_a", "Bash", {}, { parent_tool_use_id: "toolu_p" });
  ask(log, "toolu_a", 30);
  log.gave("toolu_b", "");
  expect(tools(log).map((tool) => tool?.waited)).toEqual([undefined, undefined, 30_000]);
});

it("says since when the clock stands still", () => {
  const log = new Script();
  log.call("toolu_p", "Task", {});
  log.call("toolu_a", "Bash", {}, { parent_tool_use_id: "toolu_p" });
  const opened = log.next;
  log.hub("question_opened", { id: "q1", session: "s1", kind: "permission", tool_use_id: "toolu_a", opened, state: "open" });
  const waiting = { waitsSince: Date.parse(opened) };
  expect(tools(log)).toMatchObject([
    { state: "running", ...waiting },
    { state: "asking", ...waiting },
  ]);
});
