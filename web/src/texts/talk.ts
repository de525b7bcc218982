import { formatDuration as duration, formatMoment, formatMoney, formatTokens as tokens } from "../ui/format";
import { whom } from "./core";
import { modeName } from "./modes";

/** Texts of what stands in a conversation besides what is said and done. */

const units = ["B", "kB", "MB", "GB", "TB"];

function rounded(n: number): string {
  return n >= 10 || Number.isInteger(n) ? String(Math.round(n)) : n.toFixed(1);
}

function size(bytes: number): string {
  let n = bytes;
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${rounded(n)} ${units[unit]}`;
}

/** When, in the reader's own zone; empty if it is no time. */
function when(time: string | number): string {
  return formatMoment(time);
}

function until(time: string | number): string {
  const text = when(time);
  return text === "" ? "" : `, until ${text}`;
}

function amount(n: number, unit: string): string {
  return unit === "usd" ? formatMoney(n) : `${n} ${unit}`;
}

/** With a value in parentheses, if there is one. */
function aside(text: string): string {
  return text === "" ? "" : ` (${text})`;
}

/** With a value after a colon, if there is one. */
function after(text: string): string {
  return text === "" ? "" : `: ${text}`;
}

const verbs: { readonly [decision: string]: string } = { allow: "Allowed", deny: "Denied", ask: "Asked" };

export const talkTexts = {
  session: (dir: string, fork: string) =>
    `Session created${dir === "" ? "" : ` in ${dir}`}${fork === "" ? "" : `, forked from ${fork}`}`,
  runStarts: (run: number) => `Run ${run} starting`,
  runLaunched: (run: number, version: string, simulated: boolean, sandbox: string) =>
    `Run ${run}: ${simulated ? "simulated agent" : `Claude Code ${version}`.trim()}${sandbox === "" ? "" : `, ${sandbox} sandbox`}`,
  notEnforced: (reason: string) => `Sandbox not enforced${after(reason)}. Rules apply to tool calls only.`,
  ended: (reason: string, code: number | undefined, signal: string) =>
    `Ended${after(reason)}${aside([code ? `exit code ${code}` : "", signal].filter(Boolean).join(", "))}`,
  linkLost: (reason: string) => `The link to the agent is lost${after(reason)}`,
  gap: (certain: boolean, reason: string) =>
    `${certain ? "Lines are missing here" : "Lines may be missing here"}${after(reason)}`,
  turn: (state: string, reason: string) =>
    `${state === "running" ? "The turn continues" : "How the turn ended is unknown"}${after(reason)}`,
  oversize: (bytes: number) => `A line of ${size(bytes)} was too long to keep`,
  notDelivered: (kind: string, reason: string) => `Not delivered${after([kind, reason].filter(Boolean).join(": "))}`,
  process: (event: string, reason: string) => `Agent process: ${event}${aside(reason)}`,
  interruptSent: "Interrupt sent",
  ruleAdded: (decision: string, rule: string, expires: string) =>
    `Rule added: ${decision} ${rule}${expires === "" ? "" : until(expires)}`,
  ruleRemoved: (id: string, reason: string) => `Rule removed: ${id}${aside(reason)}`,
  byRule: (decision: string, rule: string) =>
    `${(Object.hasOwn(verbs, decision) ? verbs[decision] : undefined) ?? decision} by the rule ${rule}`,
  decision: (tool: string, text: string) => (tool === "" ? text : `${tool}: ${text}`),
  deniedByRule: (rule: string) => `by the rule ${rule}`,
  deniedBy: (who: string) => `by ${who === "" ? "someone" : who}`,
  mode: (mode: string, was: string) => `Mode: ${modeName(mode)}${was === "" ? "" : ` (was ${modeName(was)})`}`,
  hold: (reason: string, end: string) => `Queue paused${after(reason)}${end === "" ? "" : until(end)}`,
  holdOver: (reason: string) => `Queue resumed${after(reason)}`,
  budget: (name: string, over: boolean, used: number, limit: number, unit: string, per: string) =>
    `Budget ${name} ${over ? "used up" : "nearly used up"}: ${amount(used, unit)} of ${amount(limit, unit)} per ${per}`,

  blocksLeft: (n: number) => `${n} more blocks not shown`,
  compactedBlock: "Conversation compacted",
  fallback: (to: string, from: string) => `${to} answers instead of ${from}`,
  notLoggedIn: "Claude Code isn't logged in. Run claude and /login on its machine, or set an API key.",
  account: (error: string) => `Account problem: ${error.replaceAll("_", " ")}`,
  interrupted: "Turn interrupted",
  output: "Command output",
  outputFailed: "Command failed",
  conversationReset: (trigger: string) => `New conversation${aside(trigger)}: the agent no longer remembers what came before`,
  noGoal: "Goal cleared",
  goal: (condition: string, reason: string) => `Goal${after(condition)}${aside(reason)}`,
  messageWas: (state: string) => `Message ${state} before the agent read it`,
  compacting: "Compacting the conversation",
  compacted: (trigger: string, before: number, afterwards: number) =>
    `Conversation compacted${aside(trigger)}${before > 0 ? `: ${tokens(before)}${afterwards > 0 ? ` to ${tokens(afterwards)}` : ""} tokens` : ""}`,
  notCompacted: (error: string) => `Compaction failed${after(error)}`,
  leaving: (reason: string) => `Agent process shutting down${after(reason)}`,
  logIn: "Login needed",
  loggedIn: "Logged in",
  loginFailed: (error: string) => `Login failed${after(error)}`,
  plugin: (name: string, status: string, error: string) => `Plugin ${[name, status].filter(Boolean).join(" ")}${after(error)}`,
  pluginError: (name: string, message: string) => `Plugin ${name}${after(message)}`,
  writesLost: (code: string, lost: string) => `Could not write the transcript${aside(code)}${after(lost)}`,
  mirrorError: (error: string) => `Could not copy the transcript${after(error)}`,
  files: (kept: number, failed: number) =>
    `${kept === 1 ? "1 file saved" : `${kept} files saved`}${failed > 0 ? `, ${failed} failed` : ""}`,
  fileFailed: (name: string, error: string) => `${name} not saved${after(error)}`,
  note: "Note",
  remembered: (n: number) => (n === 1 ? "Recalled 1 memory" : `Recalled ${n} memories`),
  memorySummary: "(summary)",
  limitReached: "Rate limit reached",
  limitNear: "Close to the rate limit",
  limitOther: (status: string) => `Rate limit: ${status}`,
  limit: (text: string, kind: string, used: number | undefined, resets: number | undefined) =>
    `${text}${aside(kind.replaceAll("_", " "))}${used === undefined ? "" : `, ${Math.round(used * 100)}% used`}${resets === undefined ? "" : until(resets * 1000)}`,
  /** What went wrong, with what the API said if it answered. */
  apiProblem: (error: string, status: number | undefined) => {
    const word = ["", "unknown", "server_error"].includes(error) ? "" : error.replaceAll("_", " ");
    const why = [status === undefined ? "" : String(status), word].filter(Boolean).join(", ");
    return `the API ${status === undefined ? "did not answer" : "answered with an error"}${aside(why)}`;
  },
  retry: (problem: string, attempt: number, of: number, delay: number) =>
    `Retry ${attempt}${of > 0 ? ` of ${of}` : ""}${delay > 0 ? ` in ${duration(delay)}` : ""}: ${problem}`,
  retries: (times: number, problem: string) => `Retried ${times} times: ${problem}`,
  refusal: (model: string, fallback: string) =>
    `${model} declined to answer${fallback === "" ? "" : `; ${fallback} answers instead`}`,
  formDone: (server: string) => `Form of ${server} completed`,
  request: (status: string, attempt: number, of: number) =>
    `Request: ${status}${attempt > 0 ? `, attempt ${attempt} of ${of}` : ""}`,
  error: (type: string, message: string) => [type, message].filter(Boolean).join(": ") || "The agent reported an error",
  hookRuns: (name: string) => `Hook ${name} running`.replace("  ", " "),
  hookDone: (name: string, outcome: string, code: number | undefined) =>
    `Hook ${name}${after(outcome === "" ? "done" : outcome)}${code ? aside(`exit code ${code}`) : ""}`,
  task: (what: string, status: string, reason: string) => `Background task ${what}${after(status)}${aside(reason)}`,
  subagentRetry: (attempt: number, of: number) => `retry ${attempt} of ${of}`,
  mcpFailed: (server: string) => `MCP server ${server} is unavailable`,
  mcpLogin: (server: string) => `MCP server ${server} needs a login`,
  summary: "Summary",
  suggestion: (text: string) => `Suggestion${after(text)}`,
  /** What a notice is about, for those who hear it. */
  topics: {
    warn: "Warning",
    bad: "Error",
  },
  by: (who: string) => `by ${whom(who)}`,
  agentPrompt: "Prompt",
  agentReport: "Report",
  agentFailed: "Failed",
  steps: (n: number) => (n === 1 ? "1 step" : `${n} steps`),
  earlierSteps: (n: number) => (n === 1 ? "Show 1 earlier step" : `Show ${n} earlier steps`),
  agentUse: (calls: number | undefined, used: number | undefined, ms: number | undefined) =>
    [
      calls === undefined ? "" : calls === 1 ? "1 call" : `${calls} calls`,
      used === undefined ? "" : `${tokens(used)} tokens`,
      ms === undefined ? "" : duration(ms),
    ]
      .filter(Boolean)
      .join(", "),
  inBackground: "In the background",
  taskStates: {
    pending: "waiting",
    running: "running",
    paused: "paused",
    completed: "completed",
    failed: "failed",
    killed: "stopped",
    stopped: "stopped",
  } as { readonly [state: string]: string },
  denied: (why: string) => `Denied${after(why)}`,
  brokenLine: (init: boolean, session: string) =>
    `broken line${init ? ", init" : ""}${session === "" ? "" : `, session ${session}`}`,
  bytes: (n: number) => `${n} bytes of binary data`,
  todo: (done: number, of: number, current: string) => `${done} of ${of} done${after(current)}`,
};
