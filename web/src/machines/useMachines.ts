import { useCallback, useEffect } from "react";
import type { Node } from "../api/types";
import { type Loaded, useLoad } from "../insight/useLoad";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";

/** How often the machines are read again while they are shown. They tell of their load every ten seconds, and of what changes at once. */
const every = 3000;

/**
 * The machines of the hub beside its own, kept current while the component is there and the page is seen. The hub has no events of them, so
 * they are asked for again and again.
 */
export function useMachines(): Loaded<readonly Node[]> {
  const hub = useHub();
  const read = useCallback(
    async (signal: AbortSignal): Promise<readonly Node[]> => (await hub.api.call("list-nodes", { signal })).nodes ?? [],
    [hub],
  );
  const loaded = useLoad(read);
  const { again, loading } = loaded;
  const online = usePart(hub.link, (link) => link.status === "online");
  useEffect(() => {
    if (loading || !online) return;
    const look = () => {
      if (!document.hidden) void again();
    };
    const timer = setInterval(look, every);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [again, loading, online]);
  return loaded;
}
