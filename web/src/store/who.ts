import { coreTexts as t } from "../texts/core";
import type { Hub } from "./hub";

/** Who did something, for people: "You" if it was this device, else the name that the hub wrote down. */
export function youOr(hub: Pick<Hub, "me">, by: string): string {
  return by !== "" && by === hub.me() ? t.you : by;
}
