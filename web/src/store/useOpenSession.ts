import { useEffect, useState } from "react";
import { type OpenSession, useHub } from "./hub";

/**
 * Opens a session for as long as the component is on the screen. Undefined in the first moment.
 * Several components may open the same one: they share it.
 */
export function useOpenSession(id: string): OpenSession | undefined {
  const hub = useHub();
  const [session, setSession] = useState<OpenSession>();
  useEffect(() => {
    const opened = hub.open(id);
    setSession(opened);
    return () => opened.release();
  }, [hub, id]);
  return session?.id === id ? session : undefined;
}
