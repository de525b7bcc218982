import { expect, it } from "vitest";
import type { Item } from "./item";
import type { Talk } from "./talk";
import { allRecordings, read, Script } from "./testlogs";

function rows(talk: Talk): Item[] {
  return talk.top.map((id) => talk.item(id)).filter((item) => item !== undefined);
}

function kinds(talk: Talk): string[] {
  return rows(talk).map((item) => (item.kind === "notice" ? item.topic : item.kind));
}

const interrupt = { type: "control_request", request_id: "r", request: { subtype: "interrupt" } };

function retry(log: Script, attempt: number, error: string, status?: number): void {
  const line = {
    type: "system",
    subtype: "api_retry",
    uuid: `y${log.events.length}`,
    attempt,
    max_retries: 10,
    retry_delay_ms: 1500,
    error,
  };
  log.line({ ...line, ...(status !== undefined && { error_status: status }) });
}

it("tells of an interrupt in one row: the end of the turn", () => {
  const log = new Script();
  log.hub("message", { id: "m1", uuid: "p1", state: "picked_up", text: "Go" });
  log.line({ type: "command_lifecycle", command_uuid: "p1", state: "queued", uuid: "l1" });
  log.line({ type: "command_lifecycle", command_uuid: "p1", state: "started", uuid: "l2" });
  log.call("t1", "Bash", { command: "make" });
  const question = { id: "q1", session: "s1", kind: "permission", tool_use_id: "t1", opened: log.next };
  log.hub("question_opened", { ...question, state: "open" });
  const sent = log.add({ kind: "sent", by: "ada", line: interrupt });
  log.hub("question_settled", { ...question, state: "cancelled", settled: log.next, reason: "interrupt" });
  log.gave("t1", "The user doesn't want to proceed with this tool use.", true);
  log.line({ type: "user", uuid: "i1", message: { content: "[Request interrupted by user for tool use]" } });
  const result = log.line({
    type: "result",
    subtype: "success",
    terminal_reason: "aborted_tools",
    uuid: "r1",
    total_cost_usd: 1,
  });
  log.line({ type: "command_lifecycle", command_uuid: "p1", state: "cancelled", uuid: "l3" });

  const talk = read(log.events);
  expect(kinds(talk)).toEqual(["prompt", "tool", "turn"]);
  expect(rows(talk)[2]).toMatchObject({ interrupted: true, by: "ada", event: result.id });
  // Whoever has a link to one of the others comes here, and the raw view shows all of them.
  expect(talk.itemOf(sent.id ?? "")).toBe(rows(talk)[2]?.id);
  expect(rows(talk)[2]?.more).toContain(sent.id);
});

it("knows an interrupted turn of a CLI that does not say so", () => {
  const log = new Script();
  log.line({ type: "user", uuid: "i1", message: { content: "[Request interrupted by user]" } });
  log.line({ type: "result", subtype: "error_during_execution", is_error: true, uuid: "r1" });
  expect(rows(read(log.events))).toMatchObject([{ kind: "turn", interrupted: true }]);
});

it("does not take the interrupt of one turn for that of another", () => {
  const log = new Script();
  log.line({ type: "user", uuid: "i1", message: { content: "[Request interrupted by user]" } });
  log.hub("message", { id: "m1", uuid: "p1", state: "picked_up", text: "Go" });
  log.line({ type: "result", subtype: "error_during_execution", is_error: true, uuid: "r1" });
  const talk = read(log.events);
  expect(kinds(talk)).toEqual(["interrupted", "prompt", "turn"]);
  expect(rows(talk)[2]).toMatchObject({ interrupted: false, failed: true });
});

it("tells of an interrupt whose turn did not end, and of one that had nothing to interrupt", () => {
  const log = new Script();
  log.add({ kind: "sent", by: "ada", line: interrupt });
  log.line({ type: "user", uuid: "i1", message: { content: "[Request interrupted by user]" } });
  expect(rows(read(log.events))).toMatchObject([{ kind: "notice", topic: "interrupted", by: "ada" }]);
  const idle = new Script();
  idle.add({ kind: "sent", by: "ada", line: interrupt });
  expect(kinds(read(idle.events))).toEqual(["interrupt"]);
});

it("says once why a turn failed", () => {
  const error = 'API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}';
  const log = new Script();
  log.say("I begin.");
  log.say(error, { error: "server_error" });
  log.line({ type: "result", subtype: "success", is_error: true, result: error, uuid: "r1" });
  const talk = read(log.events);
  expect(kinds(talk)).toEqual(["text", "turn"]);
  expect(rows(talk)[1]).toMatchObject({ failed: true, interrupted: false, error });
  // One that the end does not repeat is not lost.
  const other = new Script();
  other.say(error, { error: "server_error" });
  other.line({ type: "result", subtype: "success", result: "Done.", uuid: "r1" });
  expect(kinds(read(other.events))).toEqual(["text", "turn"]);
});

it("tells of retries one after the other in one row, with their number and the last reason", () => {
  const log = new Script();
  for (let attempt = 1; attempt <= 9; attempt++) retry(log, attempt, "overloaded", 529);
  const first = read(log.events);
  expect(kinds(first)).toEqual(["retry"]);
  const id = first.top[0];
  retry(log, 10, "server_error", 500);
  const talk = read(log.events);
  expect(talk.top).toEqual([id]);
  expect(rows(talk)).toMatchObject([{ title: "Retried 10 times: the API answered with an error (500)" }]);
  expect(rows(talk)[0]?.more).toHaveLength(9);

  log.say("Here I am.");
  retry(log, 1, "unknown");
  expect(kinds(read(log.events))).toEqual(["retry", "text", "retry"]);
  expect(rows(read(log.events))[2]).toMatchObject({ title: "Retry 1 of 10 in 1.5s: the API did not answer" });
});

it("says which row has changed when another retry comes", () => {
  const log = new Script();
  retry(log, 1, "overloaded", 529);
  const talk = read(log.events);
  const [id = ""] = talk.top;
  const before = talk.item(id);
  retry(log, 2, "overloaded", 529);
  const last = log.events.at(-1);
  expect(last && [...talk.event(last).items]).toContain(id);
  expect(talk.item(id)).not.toBe(before);
});

it("says that a message was cancelled only if the agent has not read it", () => {
  const recorded = allRecordings().get("2.1.325/cancel_queued.log") ?? [];
  // Two waited in the queue; the turn of the third was interrupted.
  expect(kinds(read(recorded)).filter((kind) => kind === "message")).toHaveLength(2);
  for (const name of ["api_error", "interrupt_stream", "interrupt_tool", "interrupt_permission"]) {
    expect(kinds(read(allRecordings().get(`2.1.325/${name}.log`) ?? [])), name).not.toContain("message");
  }
  const log = new Script();
  log.line({ type: "command_lifecycle", command_uuid: "p1", state: "refused", uuid: "l1" });
  expect(kinds(read(log.events))).toEqual(["message"]);
});
