import type { Json } from "../api/types";
import { num, oneLine, str } from "./json";

/** The tool by which a sandbox asks whether a program in it may reach a host. No model calls it. */
export const networkAccess = "SandboxNetworkAccess";

/** A connection that a program in a sandbox wants to have. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  /** The program, with its arguments; empty if it is not known. */
  readonly command: string;
}

/** The connection that a sandbox asks about. */
export function connectionOf(input: Json | undefined): Connection {
  return { host: oneLine(str(input, "host"), 300), port: num(input, "port") ?? 0, command: str(input, "command") };
}

/** A host with its port, as it is written in an address; empty without a host. */
export function hostPort(host: string, port: number): string {
  if (host === "" || port <= 0) return host;
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether a rule is about hosts: Switchboard alone knows those, and no settings of the CLI. */
export function isHostRule(rule: string): boolean {
  return /^\s*Network\s*(\(|$)/.test(rule);
}
