import type { Session } from "../api/types";
import { type Hub, type OpenSession, type Scope, useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { steerTexts as t } from "../texts/steer";
import { takesRequests } from "./told";

function sessionOf(snapshot: { session?: Session }): Session | undefined {
  return snapshot.session;
}

/** The snapshot of an open session; undefined until it has come. */
export function useSession(session: OpenSession): Session | undefined {
  return usePart(session.snapshot, sessionOf);
}

/** Why something cannot be done with a session now; undefined if it can. */
export function refusal(hub: Hub, session: Session | undefined, needs: { scope?: Scope; running?: boolean }): string | undefined {
  if (needs.scope && !hub.can(needs.scope)) return t.needs(needs.scope);
  if (!needs.running) return undefined;
  if (!session || session.state === "ended") return t.notRunning;
  return takesRequests(session) ? undefined : t.notReachable;
}

/** The same as a hook: what a disabled control gives as its reason. */
export function useRefusal(session: Session | undefined, needs: { scope?: Scope; running?: boolean }): string | undefined {
  return refusal(useHub(), session, needs);
}
