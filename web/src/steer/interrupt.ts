import { useCallback, useEffect, useState } from "react";
import { type OpenSession, useHub } from "../store/hub";
import { steerTexts as t } from "../texts/steer";
import { confirm } from "../ui/dialogs";
import { toast } from "../ui/toast";
import { useAct } from "./act";

/** Within how many milliseconds a second escape means what it says. */
const twice = 1500;

/** Stops the turn of a session, at once or by two strokes of escape. If an open question would be lost by it, it asks first. */
export function useInterrupt(session: OpenSession): {
  readonly pending: boolean;
  readonly error: Error | undefined;
  /** Escape was pressed once. */
  readonly armed: boolean;
  run(): void;
  escape(): void;
} {
  const { api, questions } = useHub();
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
      const open = questions.get().list.filter((q) => q.session === session.id && q.state === "open").length;
      // The agent takes back what it asked when its turn ends.
      if (
        open > 0 &&
        !(await confirm({
          title: t.interruptTitle,
          children: t.interruptLoses(open),
          action: t.interruptAction,
          danger: true,
        }))
      )
        return;
      const { was } = await api.call("interrupt-session", { params: { id: session.id }, body: {} });
      if (!was) toast({ title: t.nothingToInterrupt });
    });
  }, [act, api, questions, session.id]);
  const pressEscape = useCallback(() => {
    if (armed) run();
    else setArmed(true);
  }, [armed, run]);
  return { pending, error, armed, run, escape: pressEscape };
}
