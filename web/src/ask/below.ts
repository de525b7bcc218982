import { useCallback } from "react";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import type { Item } from "../talk/item";

/** Whether an item of a conversation is what is asked below it: the card has all of it, and it need not be there twice. */
export function useAskedBelow(session: string, item: Item | undefined): boolean {
  const id =
    item?.kind === "question" ? item.question.id : item?.kind === "tool" && item.state === "asking" ? item.question : undefined;
  return usePart(
    useHub().questions,
    useCallback(
      (all) => id !== undefined && all.list.some((q) => q.id === id && q.session === session && q.state === "open"),
      [id, session],
    ),
  );
}
