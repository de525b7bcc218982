import { useCallback, useRef, useState } from "react";
import { ApiError, asError } from "../api/error";
import type { Answer, Question } from "../api/types";
import { useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { forgetDrafts } from "./drafts";

const mine = new Set<string>();

/** How many are remembered. They matter for the minute in which the hub tells of settled questions. */
const mostRemembered = 200;

/** Takes note that a question was answered in this tab, or that it was not after all. */
function answeredHere(question: string, here: boolean): void {
  mine.delete(question);
  if (here) mine.add(question);
  for (const oldest of mine) {
    if (mine.size <= mostRemembered) break;
    mine.delete(oldest);
  }
}

/** Whether a question was answered in this tab: nobody has to be told that here. */
export function isMine(question: string): boolean {
  return mine.has(question);
}

export interface Answering {
  /** Sends an answer, unless one is on its way or the question is settled. */
  send(answer: Answer): void;
  readonly sending: boolean;
  /** Why the last answer was not taken; the question is still open then. */
  readonly error: Error | undefined;
  /** The question as it was settled, by whomever. */
  readonly settled: Question | undefined;
}

/** Answers a question, once. */
export function useAnswer(question: Question): Answering {
  const hub = useHub();
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const [told, setTold] = useState<Question>();
  const busy = useRef(false);
  const clientIds = useClientIds();
  const settled = question.state !== "open" ? question : told;
  const done = useRef(false);
  done.current = settled !== undefined;

  const send = useCallback(
    (answer: Answer) => {
      if (busy.current || done.current) return;
      busy.current = true;
      answeredHere(question.id, true);
      setSending(true);
      setError(undefined);
      hub.api
        .call("answer-question", { params: { id: question.id }, body: { ...answer, client_id: clientIds.of(answer) } })
        .then(
          (q) => {
            forgetDrafts(question.id);
            setTold(q);
          },
          (e: unknown) => {
            answeredHere(question.id, false);
            // Somebody was faster: that is no error, but what became of the question.
            if (e instanceof ApiError && e.code === "already_settled" && e.question) setTold(e.question);
            else setError(asError(e));
          },
        )
        .finally(() => {
          busy.current = false;
          setSending(false);
        });
    },
    [hub, clientIds, question.id],
  );
  return { send, sending, error, settled };
}

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
          else error ??= asError(e);
        }
      }
      setPending(false);
      return { done, late, ...(error ? { error } : {}) };
    },
    [api],
  );
  return { pending, answer };
}
