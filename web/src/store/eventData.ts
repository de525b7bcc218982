import type { Event, Json, Message, Question } from "../api/types";

/** The place of an event in its session's log. */
export interface EventId {
  readonly epoch: string;
  readonly seq: number;
}

/** Reads an id such as "k3v9:1284". */
export function parseEventId(id: string | undefined): EventId | undefined {
  const colon = id?.lastIndexOf(":") ?? -1;
  if (id === undefined || colon < 1) return undefined;
  const seq = Number(id.slice(colon + 1));
  return Number.isSafeInteger(seq) && seq >= 0 ? { epoch: id.slice(0, colon), seq } : undefined;
}

function member(data: Json | undefined, name: string): Json | undefined {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? data[name] : undefined;
}

/** A text in the data of an event of the hub. */
export function dataText(e: Event, name: string): string | undefined {
  const value = member(e.data, name);
  return typeof value === "string" ? value : undefined;
}

/** A mark in the data of an event of the hub. */
export function dataFlag(e: Event, name: string): boolean | undefined {
  const value = member(e.data, name);
  return typeof value === "boolean" ? value : undefined;
}

/** The question that an event tells of. It comes from the hub, not from the CLI: with an id and a state it is one. */
export function questionOf(e: Event): Question | undefined {
  if (dataText(e, "id") === undefined || dataText(e, "state") === undefined || dataText(e, "kind") === undefined)
    return undefined;
  // With it come members that are the hub's own notes: line and intent.
  const { line: _line, intent: _intent, ...question } = e.data as { [name: string]: Json };
  return { ...(question as unknown as Question), session: e.session };
}

/** The message that an event tells of. */
export function messageOf(e: Event): Message | undefined {
  if (dataText(e, "id") === undefined || dataText(e, "state") === undefined) return undefined;
  return e.data as unknown as Message;
}

/** The type of a line of the CLI. */
export function lineType(e: Event): string | undefined {
  const value = member(e.line, "type");
  return typeof value === "string" ? value : undefined;
}
