import { formatMoment } from "../ui/dates";
import { formatDuration as duration, formatMoney, formatTokens as tokens } from "../ui/format";

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

const modes: { readonly [mode: string]: string } = {
  default: "Approve",
  acceptEdits: "Edit only",
  plan: "Plan",
  bypassPermissions: "Auto",
  dontAsk: "never ask, deny",
};

const verbs: { readonly [decision: string]: string } = { allow: "Allowed", deny: "Denied", ask: "Asked" };

/** The name of a permission mode, in the words of Claude Code, but for dontAsk, which is the opposite of what they say there. */
export function modeName(mode: string): string {
  return (Object.hasOwn(modes, mode) ? modes[mode] : undefined) ?? mode;
}

export const talkTexts = {
  session: (dir: string, fork: string) =>
    `Session created${dir === "" ? "" : ` in ${dir}`}${fork === "" ? "" : `, as a copy of ${fork}`}`,
  runStarts: (run: number) => `Run ${run} is starting`,
  runLaunched: (run: number, version: string, simulated: boolean) =>
    `Run ${run}: ${simulated ? "simulated agent" : `Claude Code ${version}`.trim()}`,
  ended: (reason: string, code: number | undefined, signal: string) =>
    `Ended${after(reason)}${aside([code ? `exit code ${code}` : "", signal].filter(Boolean).join(", "))}`,
  linkLost: (reason: string) => `The link to the agent is lost${after(reason)}`,
  gap: (certain: boolean, reason: string) =>
    `${certain ? "Lines are missing here" : "Lines may be missing here"}${after(reason)}`,
  turn: (state: string, reason: string) =>
    `${state === "running" ? "The turn goes on" : "How the turn ended is unknown"}${after(reason)}`,
  oversize: (bytes: number) => `A line of ${size(bytes)} was too long to be kept`,
  notDelivered: (kind: string, reason: string) => `Not delivered${after([kind, reason].filter(Boolean).join(": "))}`,
  process: (event: string, reason: string) => `The agent's process: ${event}${aside(reason)}`,
  interruptSent: "An interrupt was sent",
  ruleAdded: (decision: string, rule: string, expires: string) =>
    `Rule added: ${decision} ${rule}${expires === "" ? "" : until(expires)}`,
  ruleRemoved: (id: string, reason: string) => `Rule removed: ${id}${aside(reason)}`,
  byRule: (decision: string, rule: string) =>
    `${(Object.hasOwn(verbs, decision) ? verbs[decision] : undefined) ?? decision} by the rule ${rule}`,
  decision: (tool: string, text: string) => (tool === "" ? text : `${tool}: ${text}`),
  deniedByRule: (rule: string) => `by the rule ${rule}`,
  deniedBy: (who: string) => `by ${who === "" ? "somebody" : who}`,
  mode: (mode: string, was: string) => `Mode: ${modeName(mode)}${was === "" ? "" : ` (was ${modeName(was)})`}`,
  hold: (reason: string, end: string) => `Held back${after(reason)}${end === "" ? "" : until(end)}`,
  holdOver: (reason: string) => (reason === "" ? "The queue is not held back any more" : `The queue goes on: ${reason}`),
  budget: (name: string, over: boolean, used: number, limit: number, unit: string, per: string) =>
    `Budget ${name} ${over ? "is used up" : "is nearly used up"}: ${amount(used, unit)} of ${amount(limit, unit)} per ${per}`,

  blocksLeft: (n: number) => `${n} more blocks are not shown`,
  compactedBlock: "The conversation so far was summed up",
  fallback: (to: string, from: string) => `${to} answers in place of ${from}`,
  notLoggedIn: "The agent is not logged in. Run claude and /login on the machine that it runs on, or give it a key.",
  account: (error: string) => `The account cannot be used: ${error}`,
  interrupted: "The turn was interrupted",
  output: "Output of a command",
  outputFailed: "A command failed",
  conversationReset: (trigger: string) =>
    `A new conversation begins${aside(trigger)}; the agent does not remember what was said before`,
  noGoal: "There is no goal any more",
  goal: (condition: string, reason: string) => `Goal${after(condition)}${aside(reason)}`,
  messageWas: (state: string) => `A message was ${state}`,
  compacting: "The conversation is being summed up",
  compacted: (trigger: string, before: number, afterwards: number) =>
    `The conversation was summed up${aside(trigger)}${before > 0 ? `: ${tokens(before)}${afterwards > 0 ? ` to ${tokens(afterwards)}` : ""} tokens` : ""}`,
  notCompacted: (error: string) => `The conversation could not be summed up${after(error)}`,
  leaving: (reason: string) => `The agent's process is going away${after(reason)}`,
  logIn: "Somebody has to log in",
  loggedIn: "Logged in",
  loginFailed: (error: string) => `Login failed${after(error)}`,
  plugin: (name: string, status: string, error: string) => `Plugin ${[name, status].filter(Boolean).join(" ")}${after(error)}`,
  pluginError: (name: string, message: string) => `Plugin ${name}${after(message)}`,
  writesLost: (code: string, lost: string) => `The transcript could not be written${aside(code)}${after(lost)}`,
  mirrorError: (error: string) => `The transcript could not be copied${after(error)}`,
  files: (kept: number, failed: number) =>
    `${kept === 1 ? "1 file was kept" : `${kept} files were kept`}${failed > 0 ? `, ${failed} could not be` : ""}`,
  fileFailed: (name: string, error: string) => `${name} was not kept${after(error)}`,
  note: "Note",
  remembered: (n: number) => (n === 1 ? "1 memory was recalled" : `${n} memories were recalled`),
  memorySummary: "(summary)",
  limitReached: "The rate limit is reached",
  limitNear: "The rate limit is near",
  limitOther: (status: string) => `Rate limit: ${status}`,
  limit: (text: string, kind: string, used: number | undefined, resets: number | undefined) =>
    `${text}${aside(kind.replaceAll("_", " "))}${used === undefined ? "" : `, ${Math.round(used * 100)}% used`}${resets === undefined ? "" : until(resets * 1000)}`,
  retry: (error: string, status: number | undefined, attempt: number, of: number, delay: number) =>
    `The API did not answer${aside([error, status === undefined ? "" : String(status)].filter(Boolean).join(", "))}; attempt ${attempt}${of > 0 ? ` of ${of}` : ""}${delay > 0 ? ` in ${duration(delay)}` : ""}`,
  refusal: (model: string, fallback: string) => `${model} would not answer${fallback === "" ? "" : `; ${fallback} does`}`,
  formDone: (server: string) => `What ${server} asked for is done`,
  request: (status: string, attempt: number, of: number) =>
    `Request: ${status}${attempt > 0 ? `, attempt ${attempt} of ${of}` : ""}`,
  error: (type: string, message: string) => [type, message].filter(Boolean).join(": ") || "The agent wrote an error",
  hookRuns: (name: string) => `Hook ${name} runs`.replace("  ", " "),
  hookDone: (name: string, outcome: string, code: number | undefined) =>
    `Hook ${name}${after(outcome === "" ? "done" : outcome)}${code ? aside(`exit code ${code}`) : ""}`,
  task: (what: string, status: string, reason: string) => `Background task ${what}${after(status)}${aside(reason)}`,
  subagentRetry: (attempt: number, of: number) => `retry ${attempt} of ${of}`,
  mcpFailed: (server: string) => `The MCP server ${server} cannot be used`,
  mcpLogin: (server: string) => `The MCP server ${server} wants somebody to log in`,
  summary: "Summary",
  suggestion: (text: string) => `Suggestion${after(text)}`,
  /** What a notice is about, for those who hear it. */
  topics: {
    warn: "Warning",
    bad: "Error",
  },
  by: (who: string) => `by ${who}`,
  agentPrompt: "What it was told to do",
  agentReport: "Report",
  agentFailed: "It failed",
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
  bytes: (n: number) => `${n} bytes that are no text`,
  todo: (done: number, of: number, current: string) => `${done} of ${of} done${after(current)}`,
};
