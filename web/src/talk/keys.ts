import { clip } from "./json";

/** A key of a name that may be as long as somebody likes. */
export function bounded(prefix: string, name: string): string {
  return prefix + clip(name, 256).text;
}

export function toolKey(use: string): string {
  return bounded("tool:", use);
}

/** The number of an event in its log, of an id such as epoch:number; 0 for what has none. */
export function eventNumber(event: string): number {
  const number = Number(event.slice(event.indexOf(":") + 1));
  return event !== "" && Number.isSafeInteger(number) ? number : 0;
}

export function promptKey(uuid: string): string {
  return bounded("prompt:", uuid);
}

/** The key of what a line tells, by its uuid; empty if it has none. */
export function lineKey(uuid: string): string {
  return uuid === "" ? "" : bounded("line:", uuid);
}
