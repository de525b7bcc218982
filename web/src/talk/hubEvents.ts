import type { Json, Message, Question, SandboxRefusal } from "../api/types";
import { sandboxTexts } from "../texts/sandbox";
import { talkTexts as t } from "../texts/talk";
import { contentBlocks } from "./blocks";
import { at, bool, clip, isLarger, isObject, type JsonObject, num, obj, oneLine, str } from "./json";
import { bounded, promptKey } from "./keys";
import { networkAccess } from "./network";
import type { Reader } from "./reader";

/** Reads an event of the hub's own. */
export function hubEvent(r: Reader): void {
  const { kind, data } = r.source;
  const read = readers[kind];
  if (Object.hasOwn(readers, kind) && read && isObject(data)) read(r, data);
  else r.unknown(kind, data ?? r.source.line ?? null);
}

const readers: { readonly [kind: string]: (r: Reader, data: JsonObject) => void } = {
  message: prompt,
  question_opened: question,
  question_changed: question,
  question_settled: question,
  // What these say about the session is in its snapshot.
  state: () => {},
  updated: () => {},
  created: (r, d) => {
    r.part.begun = true;
    r.notice("session", "dim", t.session(str(d, "dir"), str(d, "fork_of")), { by: r.source.by ?? "" });
  },
  run_started: (r) => run(r, t.runStarts(r.stamp.run)),
  run_launched: (r, d) => {
    const simulated = bool(d, "simulated");
    const [mode, enforced] = [oneLine(str(d, "sandbox", "mode")), str(d, "sandbox", "enforcer") !== "none"];
    const boxed = mode !== "" && mode !== "off";
    const title = t.runLaunched(r.stamp.run, str(d, "version"), simulated, boxed && enforced ? mode : "");
    run(r, title);
    // The hub tells again when it is connected, without saying what it had started.
    if (simulated || mode !== "") r.add({ kind: "notice", key: runKey(r), shows: false, told: { title } });
    if (boxed && !enforced) r.notice("sandbox", "bad", t.notEnforced(oneLine(str(d, "sandbox", "reason"))), { data: d });
  },
  run_ended: ended,
  link_up: (r) => r.part.linked(),
  link_lost: (r, d) => r.notice("offline", "warn", t.linkLost(str(d, "reason")), { lost: true }),
  command: (r, d) => {
    const state = str(d, "state");
    if (state === "not_delivered" || state === "unknown") {
      r.notice("not_delivered", "warn", t.notDelivered(str(d, "kind"), str(d, "reason")));
    }
  },
  gap: (r, d) => r.notice("gap", "bad", t.gap(bool(d, "certain"), str(d, "reason")), { data: d }),
  turn: (r, d) => r.notice("turn", "warn", t.turn(str(d, "state"), str(d, "reason")), { data: d }),
  oversize: (r, d) => r.notice("oversize", "warn", t.oversize(num(d, "length") ?? 0), { data: d }),
  notice: (r, d) => {
    const event = str(d, "event");
    if (str(d, "text").trim() !== "") r.notice("notice", "warn", str(d, "text"));
    // What the agent's keeper tells of the process has no words of its own.
    else if (event !== "") r.notice("process", "dim", t.process(event.replaceAll("_", " "), str(d, "reason")), { data: d });
    else r.unknown("notice", d);
  },
  rule_added: (r, d) =>
    r.notice("rule", "dim", t.ruleAdded(str(d, "decision"), str(d, "rule"), time(d, "expires")), { by: str(d, "by"), data: d }),
  rule_removed: (r, d) =>
    r.notice("rule", "dim", t.ruleRemoved(str(d, "id"), str(d, "reason")), { by: r.source.by ?? "", data: d }),
  decision,
  mode: (r, d) => r.notice("mode", "dim", t.mode(str(d, "mode"), str(d, "was")), { by: r.source.by ?? "", data: d }),
  hold: (r, d) =>
    r.notice("hold", "warn", t.hold(str(d, "reason"), time(d, "until")), { key: bounded("hold:", str(d, "id")), data: d }),
  hold_over: (r, d) => r.notice("hold_over", "dim", t.holdOver(str(d, "reason")), { by: r.source.by ?? "" }),
  sandbox_refused: refused,
  budget: (r, d) => {
    const over = bool(d, "over");
    const text = t.budget(str(d, "name"), over, num(d, "used") ?? 0, num(d, "limit") ?? 0, str(d, "unit"), str(d, "per"));
    r.notice("budget", over ? "bad" : "warn", text, { data: d });
  },
};

/** A time; empty for the one that Go writes where there is none. */
function time(data: Json, name: string): string {
  const text = str(data, name);
  return text.startsWith("0001-") ? "" : text;
}

function runKey(r: Reader): string {
  return bounded("run:", String(r.stamp.run));
}

function run(r: Reader, title: string): void {
  r.notice("started", "dim", title, { key: runKey(r) });
}

function ended(r: Reader, d: JsonObject): void {
  r.part.runOver();
  const code = num(d, "code");
  const bad = bool(d, "unfinished") || (code !== undefined && code !== 0) || str(d, "signal") !== "";
  const title = t.ended(str(d, "reason"), code, str(d, "signal"));
  r.notice("ended", bad ? "warn" : "info", title, { detail: str(d, "stderr"), data: d });
}

/** Reads what becomes of a message to the agent. One that only waits in the queue is no item yet, and one taken back from there never was. */
function prompt(r: Reader, d: JsonObject): void {
  // The hub's own events have the shape that the API says.
  const message = d as unknown as Partial<Message>;
  const uuid = str(d, "uuid");
  const state = str(d, "state");
  const content = contentBlocks(message.content);
  const said = content.length > 0 ? content : contentBlocks(str(d, "text"));
  const by = oneLine(str(d, "by"));
  r.add({
    kind: "prompt",
    key: promptKey(uuid || str(d, "id")),
    shows: state !== "queued" && state !== "taken_back",
    told: {
      message: { state, reason: state === "queued" ? "" : str(d, "reason"), clientId: str(d, "client_id") },
      ...(said.length > 0 && { said }),
      ...(uuid !== "" && { line: uuid }),
      ...(by !== "" && { by }),
    },
  });
}

/** How much of a settled question's request is kept. Who answers an open one must have seen all of it. */
const mostRequest = 1 << 20;

function question(r: Reader, d: JsonObject): void {
  const settled = str(d, "state") !== "open";
  const request = at(d, "request") ?? {};
  const asked = { ...(d as unknown as Question), request: settled && isLarger(request, mostRequest) ? {} : request };
  const by = oneLine(str(d, "by"));
  r.add({
    kind: "question",
    key: bounded("question:", str(d, "id")),
    shows: true,
    told: { question: asked, ...(by !== "" && { by }) },
  });
  const use = str(d, "tool_use_id");
  r.part.wait(str(d, "id"), use, time(d, "opened"), settled ? time(d, "settled") || r.stamp.time : "");
  // A call goes on when the sandbox asks about a host that it wants to reach, and also when it is not to reach it.
  if (use === "" || str(d, "tool") === networkAccess) return;
  const denied = str(d, "kind") === "permission" && str(d, "answer", "decision") === "deny";
  r.tool(use, false, {
    asked: { id: str(d, "id"), open: !settled, cancelled: str(d, "state") === "cancelled" },
    ...(denied && { denied: oneLine(str(d, "answer", "message") || t.deniedBy(by)) }),
  });
}

/** Reads what a rule decided by itself. */
function decision(r: Reader, d: JsonObject): void {
  const rule = obj(d, "rule");
  const [verdict, name] = [str(rule, "decision"), str(rule, "rule")];
  const [tool, use] = [oneLine(str(d, "tool")), str(d, "tool_use_id")];
  // No rule allows what is allowed because of its sandbox.
  const text = str(rule, "scope") === "sandbox" ? sandboxTexts.allowed : t.byRule(verdict, name);
  if (use !== "") {
    r.tool(use, false, {
      ...(tool !== "" && { weakName: tool }),
      ...(verdict === "deny" ? { denied: t.deniedByRule(name) } : { rule: text }),
    });
  }
  if (use === "" || verdict === "deny") r.notice("decision", "dim", t.decision(tool, text), { data: d });
}

/** Reads what a sandbox refused: it belongs to the call that ran, if the hub knows which. */
function refused(r: Reader, d: JsonObject): void {
  const use = str(d, "tool_use_id");
  r.add({
    kind: "refusal",
    shows: true,
    told: { ...(use !== "" && { parent: use }), refusal: readRefusal(d) },
  });
}

/** How much of a program's arguments is kept. */
const mostCommand = 4_000;

function readRefusal(d: JsonObject): SandboxRefusal {
  const [host, path, reason] = [oneLine(str(d, "host"), 300), str(d, "path"), oneLine(str(d, "reason"))];
  const [port, count] = [num(d, "port"), num(d, "count")];
  const [rule, use] = [oneLine(str(d, "rule", "rule")), str(d, "tool_use_id")];
  const command = clip(str(d, "command").trim(), mostCommand).text;
  return {
    kind: str(d, "kind") === "file" ? "file" : "network",
    ...(host !== "" && { host }),
    ...(port !== undefined && { port }),
    ...(path !== "" && { path }),
    ...(command !== "" && { command }),
    ...(use !== "" && { tool_use_id: use }),
    ...(rule !== "" && { rule: { decision: str(d, "rule", "decision"), rule, scope: str(d, "rule", "scope") } }),
    ...(reason !== "" && { reason }),
    ...(count !== undefined && { count }),
  };
}
