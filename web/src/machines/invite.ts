import type { InviteNode, Node } from "../api/types";
import { machinesTexts } from "../texts/machines";
import { mostLabels } from "./labels";
import { anyMachine } from "./machines";

const t = machinesTexts.invite;

/** What the hub takes at most. */
const mostSessions = 10_000;

/** The text in the form that invites a machine. */
export interface InviteForm {
  name: string;
  /** NAME=VALUE per line. */
  labels: string;
  /** How many sessions it takes at most; empty for any number. */
  most: string;
  /** How long the code works, in seconds. */
  ttl: string;
}

export const emptyInvite: InviteForm = { name: "", labels: "", most: "", ttl: "900" };

export type InviteErrors = { [K in keyof InviteForm]?: string };

/** Makes a request of the form, or says what is wrong with it. */
export function toInvitation(
  form: InviteForm,
  nodes: readonly Pick<Node, "name">[] = [],
): { request: InviteNode; errors?: undefined } | { request?: undefined; errors: InviteErrors } {
  const errors: InviteErrors = {};
  const name = form.name.trim();
  if (name !== "") {
    if (!/^[a-z0-9][a-z0-9.-]{0,61}[a-z0-9]$/.test(name)) errors.name = t.nameWrong;
    else if (name === anyMachine) errors.name = t.nameReserved;
    else if (nodes.some((node) => node.name === name)) errors.name = t.nameTaken;
  }
  const labels = readLabels(form.labels);
  if (labels === undefined) errors.labels = t.labelsWrong;
  else if (Object.keys(labels).length > mostLabels) errors.labels = t.labelsMany(mostLabels);
  const most = form.most.trim() === "" ? 0 : Number(form.most);
  if (form.most.trim() !== "" && (!Number.isInteger(most) || most <= 0 || most > mostSessions))
    errors.most = t.mostWrong(mostSessions);
  if (Object.keys(errors).length > 0) return { errors };
  return {
    request: {
      ttl: Number(form.ttl),
      ...(name ? { name } : {}),
      ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
      ...(most > 0 ? { max_sessions: most } : {}),
    },
  };
}

/** Reads NAME=VALUE per line; undefined if a line is none. */
function readLabels(text: string): { [name: string]: string } | undefined {
  const labels: { [name: string]: string } = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    const name = line.slice(0, Math.max(at, 0)).trim();
    const value = line.slice(at + 1).trim();
    if (name === "" || value === "" || /\s/.test(name)) return undefined;
    labels[name] = value;
  }
  return labels;
}

/** Whether an address leads only to the machine that it is opened on. */
export function isLoopback(url: string): boolean {
  try {
    return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
  } catch {
    return false;
  }
}
