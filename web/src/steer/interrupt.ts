import { useCallback, useEffect, useState } from "react";
import { type OpenSession, useHub } from "../store/hub";
import { steerTexts as t } from "../texts/steer";
import { toast } from "../ui";
import { useAct } from "./act";

/** Within how many milliseconds a second escape means what it says. */
const twice = 1500;

/** Stops the turn of a session, at once or by two strokes of escape. */
export function useInterrupt(session: OpenSession): {
  readonly pending: boolean;
  readonly error: Error | undefined;
  /** Escape was pressed once. */
  readonly armed: boolean;
  run(): void;
  escape(): void;
} {
  const { api } = useHub();
  const { pending, error, run: act } = useAct();
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), twice);
    return () => clearTimeout(timer);
  }, [armed]);
  const run = useCallback(() => {
    setArmed(false);
    void act(async () => {
      const { was } = await api.call("interrupt-session", { params: { id: session.id }, body: {} });
      if (!was) toast({ title: t.nothingToInterrupt });
    });
  }, [act, api, session.id]);
  const pressEscape = useCallback(() => {
    if (armed) run();
    else setArmed(true);
  }, [armed, run]);
  return { pending, error, armed, run, escape: pressEscape };
}
