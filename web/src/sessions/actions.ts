import type { Api } from "../api/client";
import { type ApiError, asApiError } from "../api/error";
import type { SessionSummary } from "../api/types";

export type Act = "stop" | "archive" | "unarchive" | "retry";

const operations = {
  stop: "stop-session",
  archive: "archive-session",
  unarchive: "unarchive-session",
  retry: "retry-session",
} as const;

/** To which sessions something can be done. */
export function fitFor(act: Act, session: SessionSummary): boolean {
  if (act === "stop") return isAlive(session);
  return act === "retry" ? session.failed === true : true;
}

/** What became of an act on several sessions. */
export interface Outcome {
  done: SessionSummary[];
  failed: { session: SessionSummary; error: ApiError }[];
}

/** How many requests are on their way at a time. */
const atOnce = 4;

/** Does something to each of several sessions. It never rejects: what failed is in the outcome. */
export async function actOn(api: Api, act: Act, sessions: readonly SessionSummary[]): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [] };
  const left = [...sessions];
  const worker = async (): Promise<void> => {
    for (let session = left.shift(); session; session = left.shift()) {
      try {
        await api.call(operations[act], { params: { id: session.id } });
        outcome.done.push(session);
      } catch (e) {
        outcome.failed.push({ session, error: asApiError(e) });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, sessions.length) }, worker));
  return outcome;
}

/** Whether the agent of a session has a process that can be stopped. */
export function isAlive(session: SessionSummary): boolean {
  return session.state !== "ended";
}
