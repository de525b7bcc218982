import type { Node } from "../api/types";
import { machinesTexts as t } from "../texts/machines";
import { formatAgo, formatDuration } from "../ui/format";
import type { Tone } from "../ui/signs";
import { visible } from "../ui/visible";

/** The value of a choice that leaves the machine to the hub. */
export const anyMachine = "any";

/** The value of a choice that goes by labels. No machine can have it as its name. */
export const byLabels = "=labels";

/** How far a clock may be off before it is told, in milliseconds. */
const mostSkew = 2000;

const knownStates = ["online", "offline", "draining", "revoked"] as const;
type Known = (typeof knownStates)[number];

/** The state of a machine, if it is one of those that are known here. */
export function knownState(node: Pick<Node, "state">): Known | undefined {
  return knownStates.find((state) => state === node.state);
}

export function stateTone(state: Known | undefined): Tone {
  switch (state) {
    case "online":
      return "ok";
    case "draining":
      return "warn";
    case "revoked":
      return "danger";
    default:
      return "neutral";
  }
}

/** Whether a machine is connected now: what it told of its load is from the last seconds. */
export function isConnected(node: Pick<Node, "state">): boolean {
  return node.state === "online" || node.state === "draining";
}

/** A time of the server in milliseconds; undefined if it has none, which it may write as the year 1. */
export function timeOf(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return at > 0 ? at : undefined;
}

/** Why no session can be started on a machine; undefined if one can. */
export function refusalOf(node: Node, now: number): string | undefined {
  if (node.state === "revoked") return t.field.revoked;
  if (node.state === "offline") {
    const seen = timeOf(node.last_seen);
    return t.field.offline(seen === undefined ? "" : formatAgo(seen, now));
  }
  if (node.state === "draining" || node.draining) return t.field.draining;
  const most = node.max_sessions ?? 0;
  return most > 0 && node.sessions >= most ? t.field.full(node.sessions, most) : undefined;
}

/** The load of a machine in percent of its processors; undefined if it is not known now. */
export function loadPercent(node: Node): number | undefined {
  // A load of zero is left out of the answer.
  return isConnected(node) && node.cpus ? Math.max(0, Math.round((node.load ?? 0) * 100)) : undefined;
}

/** The labels as they are typed: NAME=VALUE, by name. */
export function labelWords(labels: Node["labels"]): string[] {
  return Object.entries(labels ?? {})
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => visible(value ? `${name}=${value}` : name));
}

/** What a clock that is off too far is said to be; undefined for one that is not. */
export function skewWords(node: Node): string | undefined {
  const skew = node.skew_millis ?? 0;
  return isConnected(node) && Math.abs(skew) > mostSkew ? t.skew(formatDuration(Math.abs(skew)), skew > 0) : undefined;
}

/** An amount of memory: "512 MB", "31.2 GB". */
export function formatBytes(bytes: number): string {
  const gigabytes = bytes / 2 ** 30;
  if (gigabytes >= 99.5) return `${Math.round(gigabytes)} GB`;
  if (gigabytes >= 1) return `${gigabytes.toFixed(1).replace(/\.0$/, "")} GB`;
  return `${Math.round(bytes / 2 ** 20)} MB`;
}

/** The order of the page: by name, which people look for; what was locked out comes last. */
export function arrangeMachines(nodes: readonly Node[]): Node[] {
  const last = (node: Node) => (node.state === "revoked" ? 1 : 0);
  return [...nodes].sort((a, b) => last(a) - last(b) || a.name.localeCompare(b.name, "en", { numeric: true }));
}
