import { useCallback, useRef, useState } from "react";
import { ApiError } from "../api/error";
import type { Answer, Question } from "../api/types";
import { useHub } from "../store/hub";
import { forgetDrafts } from "./drafts";
import { answeredHere } from "./mine";

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
  const intent = useRef<{ body: string; id: string }>(undefined);
  const settled = question.state !== "open" ? question : told;
  const done = useRef(false);
  done.current = settled !== undefined;

  const send = useCallback(
    (answer: Answer) => {
      if (busy.current || done.current) return;
      // The same answer, sent again because nobody knows what became of it, has the same id: the hub then does it once.
      const body = JSON.stringify(answer);
      if (intent.current?.body !== body) intent.current = { body, id: crypto.randomUUID() };
      busy.current = true;
      answeredHere(question.id, true);
      setSending(true);
      setError(undefined);
      hub.api
        .call("answer-question", { params: { id: question.id }, body: { ...answer, client_id: intent.current.id } })
        .then(
          (q) => {
            forgetDrafts(question.id);
            setTold(q);
          },
          (e: unknown) => {
            answeredHere(question.id, false);
            // Somebody was faster: that is no error, but what became of the question.
            if (e instanceof ApiError && e.code === "already_settled" && e.question) setTold(e.question);
            else setError(e instanceof Error ? e : new Error(String(e)));
          },
        )
        .finally(() => {
          busy.current = false;
          setSending(false);
        });
    },
    [hub, question.id],
  );
  return { send, sending, error, settled };
}
