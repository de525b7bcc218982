import type { Event } from "../api/types";
import { talkTexts as t } from "../texts/talk";
import type { Notice } from "./item";
import { isObject, type JsonObject, str } from "./json";

/** States of a session in which nothing is being summed up. */
const atRest = new Set(["idle", "ended", "background", "starting"]);

/**
 * Whether the conversation is being summed up just now. Like what is being written it stands at the end while it goes on, and nothing is
 * left of it: what came of it is told by lines of its own.
 */
export class Compacting {
  /** What says so. */
  item: Notice | undefined;
  /** The id of what came or went. */
  moved: string | undefined;

  /** Takes the next event. */
  event(event: Event): void {
    const { item } = this;
    if (!item && begins(event)) {
      this.item = {
        id: `compacting:${event.id ?? ""}`,
        kind: "notice",
        topic: "compaction",
        level: "info",
        title: t.compacting,
        streaming: true,
        ...(event.id && { event: event.id }),
        ...(event.time && { time: event.time }),
      };
      this.moved = this.item.id;
    } else if (item && ends(event)) {
      this.item = undefined;
      this.moved = item.id;
    }
  }
}

function begins({ kind, line }: Event): boolean {
  return kind === "line" && isStatus(line) && str(line, "status") === "compacting";
}

function isStatus(line: Event["line"]): line is JsonObject {
  return isObject(line) && str(line, "type") === "system" && str(line, "subtype") === "status";
}

function ends({ kind, line, data }: Event): boolean {
  if (kind === "run_started" || kind === "run_ended") return true;
  if (kind === "state") return atRest.has(str(data, "state"));
  if (kind !== "line" || !isObject(line)) return false;
  if (isStatus(line)) {
    // Others make requests meanwhile, and the mode may be changed: neither tells of this.
    const status = str(line, "status");
    if (status === "compacting" || status === "requesting") return false;
    return status !== "" || str(line, "permissionMode") === "" || str(line, "compact_result") !== "";
  }
  switch (str(line, "type")) {
    case "result":
      return true;
    case "assistant":
      return str(line, "parent_tool_use_id") === "";
    default:
      return str(line, "subtype") === "compact_boundary";
  }
}
