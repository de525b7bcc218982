import { useCallback, useRef, useState } from "react";
import { ApiError } from "../api/error";
import type { Answer, Question } from "../api/types";
import { useHub } from "../store/hub";
import { forgetDrafts } from "./drafts";
import { answeredHere } from "./mine";

/** What became of several answers. */
export interface Answered {
  readonly done: number;
  /** How many were already answered by someone else, or taken back. */
  readonly late: number;
  /** Why the first of the others was not taken. They are still open. */
  readonly error?: Error;
}

/** Gives several questions the same answer, one after the other. */
export function useTogether(): {
  readonly pending: boolean;
  answer(list: readonly Question[], answer: Answer): Promise<Answered>;
} {
  const { api } = useHub();
  const [pending, setPending] = useState(false);
  const intents = useRef(new Map<string, string>());
  const answer = useCallback(
    async (list: readonly Question[], given: Answer): Promise<Answered> => {
      setPending(true);
      let [done, late] = [0, 0];
      let error: Error | undefined;
      for (const q of list) {
        // The same answer, sent again because nobody knows what became of it, has the same id: the hub then does it once.
        const intent = `${q.id} ${JSON.stringify(given)}`;
        const id = intents.current.get(intent) ?? crypto.randomUUID();
        intents.current.set(intent, id);
        answeredHere(q.id, true);
        try {
          await api.call("answer-question", { params: { id: q.id }, body: { ...given, client_id: id } });
          forgetDrafts(q.id);
          intents.current.delete(intent);
          done++;
        } catch (e) {
          answeredHere(q.id, false);
          if (e instanceof ApiError && e.code === "already_settled") late++;
          else error ??= e instanceof Error ? e : new Error(String(e));
        }
      }
      setPending(false);
      return { done, late, ...(error ? { error } : {}) };
    },
    [api],
  );
  return { pending, answer };
}
