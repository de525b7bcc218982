import { createContext, useContext } from "react";
import { href } from "../app/router";
import type { Item } from "../talk/item";

/** Opens the raw view of an item: the lines that it was made of. */
export const RawContext = createContext<(item: Item) => void>(() => {});

export function useRaw(): (item: Item) => void {
  return useContext(RawContext);
}

/** Whether an item has lines that can be shown and linked. */
export function hasEvent(item: Item): boolean {
  return item.event !== undefined;
}

/** The address of an item within this console, absolute, as one gives it to somebody else. */
export function itemHref(session: string, item: Item): string {
  const hash = href(item.event ? { page: "session", id: session, event: item.event } : { page: "session", id: session });
  return new URL(hash, document.baseURI).href;
}
