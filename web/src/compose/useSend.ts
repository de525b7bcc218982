import { useCallback } from "react";
import type { SendMessage } from "../api/types";
import { useAct } from "../steer/act";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { type Attachment, contentOf } from "./attach";

export type SendMode = "queue" | "steer";

/** What the hub is told of a message. */
export function bodyOf(text: string, files: readonly Attachment[], mode: SendMode, clientId: string): SendMessage {
  const content = contentOf(text, files);
  return { client_id: clientId, mode, ...(content ? { content } : { text }) };
}

/** Sends messages to a session, one after the other. What is sent again after a failure is the same message to the hub. */
export function useSend(session: OpenSession): {
  readonly pending: boolean;
  readonly error: Error | undefined;
  /** Resolves to whether the hub has taken it. */
  send(text: string, files: readonly Attachment[], mode: SendMode): Promise<boolean>;
  clear(): void;
} {
  const { api } = useHub();
  const { pending, error, run, clear } = useAct();
  const clientIds = useClientIds();
  const send = useCallback(
    async (text: string, files: readonly Attachment[], mode: SendMode) => {
      const id = clientIds.of([session.id, mode, text, files.map((f) => f.id)]);
      const sent = await run(() => api.call("send-message", { params: { id: session.id }, body: bodyOf(text, files, mode, id) }));
      if (!sent) return false;
      clientIds.done();
      return true;
    },
    [api, clientIds, run, session.id],
  );
  return { pending, error, send, clear };
}
