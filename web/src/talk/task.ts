import type { Tool } from "./item";

const going = new Set(["", "pending", "running", "paused"]);

/** Whether a task of this state is over. */
export function taskOver(state: string | undefined): boolean {
  return !going.has(state ?? "");
}

/** Whether a call that has its result already goes on in the background: an agent, or a command. */
export function goesOn(item: Tool): boolean {
  return item.task !== undefined && !taskOver(item.task.state);
}
