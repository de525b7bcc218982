import { useCallback, useContext } from "react";
import { coreTexts as t } from "../texts/core";
import { type Hub, HubContext } from "./hub";

/** Who did something, for people: "You" if it was this device, else the name that the hub wrote down. */
export function youOr(hub: Pick<Hub, "me">, by: string): string {
  return by !== "" && by === hub.me() ? t.you : by;
}

/** Says who did something: "You" if it was this device, or one that has the same name. */
export function useWho(): (by: string | undefined) => string {
  const hub = useContext(HubContext);
  return useCallback((by) => (hub && by ? youOr(hub, by) : by || t.you), [hub]);
}
