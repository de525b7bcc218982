import { useCallback, useContext } from "react";
import { HubContext } from "../store/hub";
import { conversationTexts as t } from "../texts/conversation";

/** Says who did something: "You" if it was this device, or one that has the same name. */
export function useWho(): (by: string | undefined) => string {
  const hub = useContext(HubContext);
  return useCallback((by) => (by === undefined || by === "" || by === hub?.me() ? t.you : by), [hub]);
}
