import { useEffect } from "react";
import { useHub } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import { begun, looked, see } from "../store/seen";

/** Notes that somebody looks at a session, as long as it is open in a tab that can be seen. */
export function useSeen(id: string | undefined): void {
  const hub = useHub();
  const { loaded, byId } = useReadable(hub.sessions);
  const updated = usePart(hub.sessions, (sessions) => (id === undefined ? undefined : sessions.byId.get(id)?.updated));
  useEffect(() => {
    if (loaded) see((seen) => begun(seen, byId.values()));
  }, [loaded, byId]);
  useEffect(() => {
    if (id === undefined || updated === undefined) return;
    const look = (): void => {
      if (document.visibilityState === "visible") see((seen) => looked(seen, id, Date.parse(updated)));
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [id, updated]);
}
