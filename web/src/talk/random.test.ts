import { expect, it } from "vitest";
import type { Json } from "../api/types";
import { Talk } from "./talk";
import { dump, read, Script, streamed } from "./testlogs";

/** Whole numbers below a bound that look random, and are the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let n = seed * 7919;
  return (sides) => {
    n = (n * 1103515245 + 12345) % 2147483648;
    return Math.floor((n / 2147483648) * sides);
  };
}

/** A log in which everything comes in whatever order: results before calls, steps of agents before the agents, and the like. */
function disorder(roll: (sides: number) => number): Script {
  const log = new Script();
  // Each call has one agent that made it, whoever tells of it.
  const makers = [0, 1, 2, 3, 4].map((n) => (n > 0 && roll(2) ? { parent_tool_use_id: `t${roll(n)}` } : undefined));
  const call = (): [string, { [name: string]: Json }] => {
    const n = roll(5);
    return [`t${n}`, makers[n] ?? {}];
  };
  for (let n = 0; n < 40; n++) {
    const [use, maker] = call();
    switch (roll(12)) {
      case 0:
      case 1: {
        const agent: { [name: string]: Json } = roll(2) ? { parent_tool_use_id: use } : {};
        log.say(`text ${n}`, { ...agent, ...(roll(6) === 0 && { supersedes: [`a${roll(40)}`] }) });
        break;
      }
      case 2:
      case 3:
        log.call(use, "Task", {}, maker);
        break;
      case 4:
        log.gave(use, "ok", false, maker);
        break;
      case 5:
        log.line({ type: "result", subtype: "success", uuid: `r${n}`, total_cost_usd: n });
        break;
      case 6: {
        const task = roll(3);
        const subtype = roll(2) ? "task_started" : "task_notification";
        const tool = task > 0 && roll(2) ? `t${task + 1}` : "";
        log.line({ type: "system", subtype, task_id: `k${task}`, tool_use_id: tool, status: "completed" });
        break;
      }
      case 7:
        if (roll(2)) log.hub("run_ended", { reason: "stopped" });
        else log.hub("decision", { tool: "X", tool_use_id: use, rule: { decision: "deny", rule: "r" } });
        break;
      case 9: {
        const retry = { type: "system", subtype: "api_retry", attempt: n, max_retries: 10, error_status: 500, uuid: `y${n}` };
        for (let more = roll(3); more >= 0; more--) log.line({ ...retry, uuid: `y${n}.${more}` });
        break;
      }
      case 10: {
        const question = { id: `q${n}`, session: "s1", kind: "permission", tool_use_id: use };
        const { time: opened = "" } = log.hub("question_opened", { ...question, state: "open", opened: log.next });
        if (roll(2)) log.gave(use, "ok", false, maker);
        const settled = { state: roll(2) ? "cancelled" : "answered", opened, settled: log.next };
        if (roll(3)) log.hub("question_settled", { ...question, ...settled });
        break;
      }
      case 11: {
        const message = `m${roll(3)}`;
        log.line({ type: "command_lifecycle", command_uuid: message, state: ["queued", "started"][roll(2)] ?? "" });
        if (roll(2)) log.add({ kind: "sent", by: "ada", line: { type: "control_request", request: { subtype: "interrupt" } } });
        if (roll(2)) log.line({ type: "user", uuid: `i${n}`, message: { content: "[Request interrupted by user]" } });
        if (roll(2)) log.line({ type: "result", subtype: "success", terminal_reason: "aborted_tools", uuid: `r${n}` });
        if (roll(2)) log.line({ type: "command_lifecycle", command_uuid: message, state: "cancelled" });
        break;
      }
      case 8:
        log.hub("message", { id: `m${roll(3)}`, state: ["queued", "sent", "taken_back"][roll(3)] ?? "", text: "hello" });
        break;
    }
  }
  return log;
}

/** All that is shown. The order of further events depends on the order in which they were read. */
function shown(talk: Talk): unknown {
  return JSON.parse(JSON.stringify(dump(talk), (name, value: unknown) => (name === "more" ? undefined : value)));
}

it("gives the same whatever is read when, dropped and read again", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const roll = dice(seed);
    const { events } = disorder(roll);
    const want = shown(read(events));
    const talk = new Talk();
    const older = (from: number): void => {
      for (let at = from; at > 0; ) {
        const next = Math.max(at - 1 - roll(10), 0);
        talk.prepend(events.slice(next, at));
        at = next;
      }
    };
    const cut = 1 + roll(39);
    for (const event of events.slice(cut)) {
      talk.event(event);
      if (roll(5) > 0) continue;
      const agent = roll(2) ? `t${roll(5)}` : undefined;
      talk.event(streamed({ type: "message_start", message: { id: `live${roll(3)}` } }, agent));
      talk.event(streamed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "live" } }, agent));
      expect(JSON.stringify(dump(talk))).toContain("live");
    }
    talk.frame({ type: "partial", partial: { session: "s1", after: 0, messages: [] } });
    older(cut);
    expect(shown(talk), `seed ${seed}, read from ${cut}`).toEqual(want);
    talk.trim(1 + roll(6));
    older(events.findIndex((event) => event.id === talk.firstEvent));
    expect(shown(talk), `seed ${seed}, dropped and read again`).toEqual(want);
  }
});
