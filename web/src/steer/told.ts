import type { Session } from "../api/types";
import { arr, bool, isObject, num, oneLine, str } from "../talk/json";

/** A model that can be chosen. */
export interface Model {
  /** What the hub is told; empty for the default one. */
  readonly value: string;
  readonly label: string;
  readonly hint: string;
  /** The model's full name, by which the CLI tells which one it uses. */
  readonly resolved: string;
}

/** A slash command of the CLI. */
export interface Command {
  /** Without the slash. */
  readonly name: string;
  readonly hint: string;
  /** What arguments it takes. */
  readonly args: string;
}

/** How many models and commands are read of what a CLI tells. */
const most = 1000;

/** The models that the CLI has told. Its word for the default one is "default", the hub's is nothing. */
export function modelsOf(session: Session | undefined): readonly Model[] {
  return arr(session?.initialize, "models")
    .slice(0, most)
    .flatMap((m) => {
      const value = str(m, "value");
      if (value === "") return [];
      return [
        {
          value: value === "default" ? "" : value,
          label: oneLine(str(m, "displayName") || value, 80),
          hint: oneLine(str(m, "description"), 200),
          resolved: str(m, "resolvedModel"),
        },
      ];
    });
}

/** The one of the models that a session uses; undefined if none of those that were told is it. */
export function currentModel(models: readonly Model[], model: string | undefined): Model | undefined {
  if (!model) return undefined;
  return models.find((m) => m.value === model) ?? models.find((m) => m.resolved !== "" && m.resolved === model);
}

/** A model's name as short as people say it: "claude-sonnet-4-5-20250929" is "sonnet-4-5". */
export function shortModel(model: string): string {
  return oneLine(model, 80)
    .replace(/^claude-/, "")
    .replace(/-\d{8}$/, "");
}

/** The commands that the CLI has told: with hints by initialize, else their names by init. */
export function commandsOf(session: Session | undefined): readonly Command[] {
  const list: Command[] = [];
  const seen = new Set<string>();
  const add = (name: string, hint: string, args: string) => {
    const clean = oneLine(name, 100).replace(/^\/+/, "");
    if (clean === "" || /\s/.test(clean) || seen.has(clean)) return;
    seen.add(clean);
    list.push({ name: clean, hint: oneLine(hint, 300), args: oneLine(args, 100) });
  };
  for (const c of arr(session?.initialize, "commands").slice(0, most))
    add(str(c, "name"), str(c, "description"), str(c, "argumentHint"));
  for (const c of arr(session?.init, "slash_commands").slice(0, most)) if (typeof c === "string") add(c, "", "");
  return list;
}

/** The modes that a key goes around in, as in the CLI's own terminal. */
const around: readonly string[] = ["default", "acceptEdits", "plan"];

export function nextMode(mode: string | undefined): string {
  const at = around.indexOf(mode ?? "");
  return around[(at + 1) % around.length] ?? "default";
}

/** Whether the process was started so that it may be told to ask nothing any more. */
export function allowsBypass(session: Session | undefined): boolean {
  return bool(session?.options, "allow_bypass") || session?.options?.permission_mode === "bypassPermissions";
}

/** Whether a turn is going on, so that a message waits and can be written into it. */
export function isWorking(state: string | undefined): boolean {
  return state === "running" || state === "requires_action";
}

/** Whether there is an agent that takes control requests now. */
export function takesRequests(session: Session | undefined): boolean {
  return session?.linked === true && session.state !== "ended" && session.state !== "offline";
}

/** An MCP server as the CLI tells of it. */
export interface McpServer {
  readonly name: string;
  /** connected, failed, needs-auth, pending, disabled, or a word of tomorrow. */
  readonly status: string;
  readonly error: string;
  readonly scope: string;
  readonly transport: string;
  readonly version: string;
  readonly tools: readonly { readonly name: string; readonly hint: string }[];
}

/** The MCP servers in an answer to mcp_status. */
export function serversOf(answer: unknown): readonly McpServer[] {
  return arr(answer, "mcpServers")
    .slice(0, most)
    .map((s) => ({
      name: str(s, "name"),
      status: oneLine(str(s, "status"), 40),
      error: oneLine(str(s, "error"), 1000),
      scope: oneLine(str(s, "scope"), 60),
      transport: oneLine(str(s, "transport") || str(s, "config", "type"), 40),
      version: oneLine(str(s, "serverInfo", "version"), 40),
      tools: arr(s, "tools")
        .slice(0, most)
        .map((t) => ({ name: oneLine(str(t, "name"), 120), hint: oneLine(str(t, "description"), 300) })),
    }))
    .filter((s) => s.name !== "");
}

/** A limit of the account, as the CLI tells of it. */
export interface Limit {
  /** The window that it is counted in: five_hour, seven_day, …, or a word of tomorrow. */
  readonly kind: string;
  readonly state: "far" | "near" | "reached";
  /** How much of it is used, in whole percent. */
  readonly percent?: number;
  /** When its window ends, in milliseconds. */
  readonly resets?: number;
}

/** The last time that a date can have, in seconds. */
const lastSecond = 8.64e12;

/** The account's limits that the CLI has told. */
export function limitsOf(session: Session | undefined): readonly Limit[] {
  const told = session?.rate_limits;
  if (!isObject(told)) return [];
  return Object.entries(told)
    .slice(0, 20)
    .map(([kind, info]): Limit => {
      const used = num(info, "utilization");
      const resets = num(info, "resetsAt");
      const status = str(info, "status");
      return {
        kind: oneLine(kind, 60),
        state: status === "rejected" ? "reached" : status === "" || status === "allowed" ? "far" : "near",
        ...(used !== undefined && { percent: Math.max(0, Math.round(used * 100)) }),
        ...(resets !== undefined && resets > 0 && resets < lastSecond && { resets: resets * 1000 }),
      };
    });
}
