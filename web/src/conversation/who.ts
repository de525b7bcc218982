import { useCallback, useContext } from "react";
import { HubContext } from "../store/hub";
import { youOr } from "../store/who";
import { coreTexts as t } from "../texts/core";

/** Says who did something: "You" if it was this device, or one that has the same name. */
export function useWho(): (by: string | undefined) => string {
  const hub = useContext(HubContext);
  return useCallback((by) => (hub && by ? youOr(hub, by) : by || t.you), [hub]);
}
