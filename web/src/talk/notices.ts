import { talkTexts as t } from "../texts/talk";
import type { TaskTold } from "./entry";
import type { Notice } from "./item";
import { arr, bool, clip, firstText, type JsonObject, num, obj, oneLine, str } from "./json";
import { bounded, lineKey } from "./keys";
import type { Reader } from "./reader";

type Read = (r: Reader, line: JsonObject) => void;

/** Reads a line of the CLI's that is neither said nor done by the agent; false if its type is not known. */
export function noticeLine(r: Reader, line: JsonObject): boolean {
  const type = str(line, "type");
  const name = type === "system" ? `system/${str(line, "subtype")}` : type;
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  read?.(r, line);
  return read !== undefined;
}

/** How many entries of a list are told of. */
const mostListed = 100;

/** Adds a notice of a line, which may come twice. */
function tell(r: Reader, line: JsonObject, topic: string, level: Notice["level"], title: string, detail = ""): void {
  r.notice(topic, level, title, { key: lineKey(str(line, "uuid")), detail, data: line });
}

/** What is said about the session is in its snapshot. */
const inSnapshot: Read = () => {};

const readers: { readonly [type: string]: Read } = {
  tool_use_summary: (r, l) => tell(r, l, "summary", "dim", str(l, "summary") || t.summary),
  streamlined_tool_use_summary: (r, l) => tell(r, l, "summary", "dim", str(l, "tool_summary") || t.summary),
  prompt_suggestion: (r, l) => tell(r, l, "suggestion", "dim", t.suggestion(str(l, "suggestion"))),
  conversation_reset: (r, l) => tell(r, l, "conversation", "info", t.conversationReset(str(l, "trigger"))),
  active_goal: (r, l) => {
    const goal = obj(l, "value");
    const condition = str(goal, "condition");
    tell(r, l, "goal", "info", Object.keys(goal).length === 0 ? t.noGoal : t.goal(condition, str(goal, "last_reason")));
  },
  command_lifecycle: fate,
  auth_status: login,
  rate_limit_event: rateLimit,
  error: (r, l) => r.notice("error", "bad", t.error(str(l, "error", "type"), str(l, "error", "message")), { data: l }),

  "system/init": init,
  "system/status": (r, l) => {
    const error = str(l, "compact_error");
    if (error !== "" || str(l, "compact_result") === "failed") tell(r, l, "compaction", "warn", t.notCompacted(error));
  },
  "system/session_state_changed": inSnapshot,
  "system/commands_changed": inSnapshot,
  "system/background_tasks_changed": inSnapshot,
  "system/thinking_tokens": inSnapshot,
  "system/compact_boundary": (r, l) => {
    const d = obj(l, "compact_metadata");
    tell(r, l, "compaction", "info", t.compacted(str(d, "trigger"), num(d, "pre_tokens") ?? 0, num(d, "post_tokens") ?? 0));
  },
  "system/worker_shutting_down": (r, l) => tell(r, l, "agent", "warn", t.leaving(str(l, "reason"))),
  "system/plugin_install": (r, l) => {
    const error = str(l, "error");
    const failed = error !== "" || str(l, "status") === "failed";
    tell(r, l, "plugin", failed ? "warn" : "dim", t.plugin(str(l, "name"), str(l, "status"), error));
  },
  "system/session_writes_lost": (r, l) => {
    const lost = arr(l, "lost").filter((name) => typeof name === "string");
    tell(r, l, "transcript", "bad", t.writesLost(str(l, "error_code"), lost.slice(0, mostListed).join(", ")));
  },
  "system/mirror_error": (r, l) => tell(r, l, "transcript", "warn", t.mirrorError(str(l, "error"))),
  "system/files_persisted": files,
  "system/informational": (r, l) => {
    const warns = str(l, "level") === "warning" || bool(l, "prevent_continuation");
    tell(r, l, str(l, "tag") || "note", warns ? "warn" : "info", str(l, "content") || t.note);
  },
  "system/notification": (r, l) => {
    const warns = ["high", "immediate"].includes(str(l, "priority"));
    tell(r, l, "note", warns ? "warn" : "info", str(l, "text") || t.note);
  },
  "system/local_command_output": (r, l) => tell(r, l, "output", "dim", t.output, str(l, "content")),
  "system/memory_recall": (r, l) => {
    const memories = arr(l, "memories");
    const paths = memories.slice(0, mostListed).map((memory) => str(memory, "path") || t.memorySummary);
    tell(r, l, "memory", "dim", t.remembered(memories.length), paths.join("\n"));
  },
  "system/api_retry": (r, l) => {
    tell(r, l, "retry", "warn", retryTitle(l, 1));
  },
  "system/model_refusal_fallback": (r, l) => {
    r.part.retract(arr(l, "retracted_message_uuids").filter((uuid) => typeof uuid === "string"));
    tell(r, l, "refusal", "warn", str(l, "content") || t.refusal(str(l, "original_model"), str(l, "fallback_model")));
  },
  "system/model_refusal_no_fallback": (r, l) =>
    tell(r, l, "refusal", "warn", str(l, "content") || t.refusal(str(l, "original_model"), "")),
  "system/permission_denied": (r, l) => {
    const name = oneLine(str(l, "tool_name"));
    const denied = oneLine(str(l, "message") || str(l, "decision_reason"));
    r.tool(str(l, "tool_use_id"), true, { denied, ...(name !== "" && { weakName: name }) });
  },
  "system/elicitation_complete": (r, l) => tell(r, l, "form", "dim", t.formDone(str(l, "mcp_server_name"))),
  "system/control_request_progress": (r, l) => {
    const text = t.request(str(l, "status").replaceAll("_", " "), num(l, "attempt") ?? 0, num(l, "max_retries") ?? 0);
    r.notice("request", "dim", text, { key: bounded("progress:", str(l, "request_id")), data: l });
  },
  "system/hook_started": hook,
  "system/hook_progress": hook,
  "system/hook_response": hook,
  "system/task_started": (r, l) =>
    task(r, l, {
      kind: firstText(l, "workflow_name", "subagent_type", "task_type"),
      description: str(l, "description"),
      status: "running",
      background: bool(l, "is_backgrounded"),
      quiet: bool(l, "ambient") || bool(l, "skip_transcript"),
    }),
  // Its description is what it does now, and not what it is for.
  "system/task_progress": (r, l) => task(r, l, { summary: firstText(l, "summary", "description", "last_tool_name") }),
  "system/task_updated": (r, l) =>
    task(r, l, {
      description: str(l, "patch", "description"),
      status: str(l, "patch", "status"),
      background: bool(l, "patch", "is_backgrounded"),
      reason: str(l, "patch", "error"),
    }),
  "system/task_notification": (r, l) =>
    task(r, l, {
      status: str(l, "status"),
      summary: str(l, "summary"),
      reason: str(l, "reason"),
      quiet: bool(l, "ambient") || bool(l, "skip_transcript"),
    }),
};

/** Says why the API is asked again, for so many times. */
export function retryTitle(line: JsonObject, times: number): string {
  const problem = t.apiProblem(str(line, "error"), num(line, "error_status"));
  if (times > 1) return t.retries(times, problem);
  return t.retry(problem, num(line, "attempt") ?? 0, num(line, "max_retries") ?? 0, num(line, "retry_delay_ms") ?? 0);
}

/** Reads what the CLI does with a message. */
function fate(r: Reader, line: JsonObject): void {
  const state = str(line, "state");
  const key = bounded("fate:", str(line, "command_uuid"));
  if (state === "queued" || state === "started") {
    r.add({ kind: "notice", key, shows: false, told: { fate: { [state]: true } } });
  } else if (["cancelled", "discarded", "refused"].includes(state)) {
    const notice = { topic: "message", level: "warn", title: t.messageWas(state), data: line } as const;
    r.add({ kind: "notice", key, shows: true, told: { fate: { dropped: state }, notice } });
  }
}

function init(r: Reader, line: JsonObject): void {
  for (const server of arr(line, "mcp_servers").slice(0, mostListed)) {
    const [name, status] = [str(server, "name"), str(server, "status")];
    if (status !== "failed" && status !== "needs-auth") continue;
    const text = status === "failed" ? t.mcpFailed(name) : t.mcpLogin(name);
    r.notice("mcp", "warn", text, { key: bounded("mcp:", `${name} ${status}`), data: server });
  }
  for (const error of arr(line, "plugin_errors").slice(0, mostListed)) {
    const name = str(error, "plugin");
    r.notice("plugin", "warn", t.pluginError(name, str(error, "message")), {
      key: bounded("plugin:", `${name} ${str(error, "type")}`),
    });
  }
}

function login(r: Reader, line: JsonObject): void {
  const output = arr(line, "output")
    .filter((text) => typeof text === "string")
    .slice(0, mostListed)
    .join("\n");
  const error = str(line, "error");
  if (error !== "") tell(r, line, "login", "bad", t.loginFailed(error), output);
  else tell(r, line, "login", "info", bool(line, "isAuthenticating") ? t.logIn : t.loggedIn, output);
}

function files(r: Reader, line: JsonObject): void {
  const [kept, failed] = [arr(line, "files"), arr(line, "failed")];
  const names = kept.slice(0, mostListed).map((file) => str(file, "filename"));
  for (const file of failed.slice(0, mostListed)) names.push(t.fileFailed(str(file, "filename"), str(file, "error")));
  tell(r, line, "files", failed.length > 0 ? "warn" : "info", t.files(kept.length, failed.length), names.join("\n"));
}

/** Reads how near a limit is. One that is far is not worth a line. */
function rateLimit(r: Reader, line: JsonObject): void {
  const info = obj(line, "rate_limit_info");
  const status = str(info, "status");
  if (status === "" || status === "allowed") return;
  const [kind, resets] = [str(info, "rateLimitType"), num(info, "resetsAt")];
  const text = status === "rejected" ? t.limitReached : status === "allowed_warning" ? t.limitNear : t.limitOther(status);
  r.notice("rate_limit", status === "rejected" ? "bad" : "warn", t.limit(text, kind, num(info, "utilization"), resets), {
    key: bounded("limit:", `${kind} ${status} ${resets ?? 0}`),
    data: line,
  });
}

/** Reads what a hook does. */
function hook(r: Reader, line: JsonObject): void {
  const id = str(line, "hook_id");
  const name = oneLine(str(line, "hook_name"));
  const key = id === "" ? "" : bounded("hook:", id);
  if (str(line, "subtype") !== "hook_response") {
    r.notice("hook", "dim", t.hookRuns(name), { key, detail: firstText(line, "stdout", "stderr", "output"), data: line });
    return;
  }
  const code = num(line, "exit_code");
  const bad = str(line, "outcome") === "error" || (code !== undefined && code !== 0);
  const title = t.hookDone(name, str(line, "outcome"), code);
  r.notice("hook", bad ? "warn" : "dim", title, { key, detail: firstText(line, "stderr", "stdout", "output"), data: line });
}

/** Reads what a sub-agent or a command in the background does. */
function task(r: Reader, line: JsonObject, told: Omit<TaskTold, "id" | "tool">): void {
  const id = oneLine(str(line, "task_id"));
  if (id === "") return;
  const lines = {
    kind: oneLine(told.kind ?? ""),
    description: oneLine(told.description ?? ""),
    status: oneLine(told.status ?? ""),
    summary: clip((told.summary ?? "").trim()).text,
    use: t.agentUse(num(line, "usage", "tool_uses"), num(line, "usage", "total_tokens"), num(line, "usage", "duration_ms")),
    reason: clip((told.reason ?? "").trim()).text,
  };
  r.add({
    kind: "notice",
    key: bounded("task:", id),
    shows: true,
    told: {
      task: { id, tool: str(line, "tool_use_id"), ...lines, background: told.background ?? false, quiet: told.quiet ?? false },
    },
  });
}
