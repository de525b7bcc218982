import { useCallback, useState } from "react";
import { ApiError } from "../api/error";
import type { SessionSummary } from "../api/types";
import { useHub } from "../store/hub";
import { sessionsTexts } from "../texts/sessions";
import { confirm } from "../ui/dialogs";
import { toast } from "../ui/toast";
import { type Act, actOn, fitFor, type Outcome } from "./actions";
import { titleOf } from "./list";

const t = sessionsTexts.bulk;
const done: Record<Act, (n: number) => string> = {
  stop: t.stopped,
  archive: t.archived,
  unarchive: t.unarchived,
  retry: t.retried,
};

/** Does things to sessions of the list, asks before, and tells what became of it. */
export function useActs(archiveChanged: () => void): {
  pending: Act | undefined;
  error: ApiError | undefined;
  /** Resolves with the ids of those that could not be changed; with all of them if it was not confirmed. */
  run(act: Act, sessions: readonly SessionSummary[]): Promise<string[]>;
} {
  const { api } = useHub();
  const [pending, setPending] = useState<Act>();
  const [error, setError] = useState<ApiError>();

  const perform = useCallback(
    async (act: Act, sessions: readonly SessionSummary[]): Promise<Outcome> => {
      setPending(act);
      setError(undefined);
      const outcome = await actOn(api, act, sessions);
      setPending(undefined);
      if (act === "archive" || act === "unarchive") archiveChanged();
      if (outcome.failed.length > 0) setError(summary(outcome));
      return outcome;
    },
    [api, archiveChanged],
  );

  const run = useCallback(
    async (act: Act, given: readonly SessionSummary[]): Promise<string[]> => {
      const sessions = given.filter((session) => fitFor(act, session));
      if (sessions.length === 0) return [];
      if (!(await agreed(act, sessions))) return given.map((s) => s.id);
      const outcome = await perform(act, sessions);
      const n = outcome.done.length;
      if (n > 0) {
        toast({
          title: done[act](n),
          tone: "ok",
          action: act === "archive" ? { label: t.undo, run: () => void perform("unarchive", outcome.done) } : undefined,
        });
      }
      return outcome.failed.map((f) => f.session.id);
    },
    [perform],
  );
  return { pending, error, run };
}

/** Asks before an agent is ended, or put out of sight while it works. */
async function agreed(act: Act, sessions: readonly SessionSummary[]): Promise<boolean> {
  if (act === "stop") {
    return confirm({ title: t.confirmStop(sessions.length), children: t.confirmStopText, action: t.stop, danger: true });
  }
  const working = sessions.filter((s) => s.state !== "ended" && s.state !== "idle").length;
  if (act === "archive" && working > 0) {
    return confirm({ title: t.confirmArchive(sessions.length), children: t.alive(working), action: t.archive });
  }
  return true;
}

/** One error for several: how many, and the first ones with their reasons. */
function summary(outcome: Outcome): ApiError {
  const first = outcome.failed[0];
  if (first && outcome.failed.length === 1 && outcome.done.length === 0) return first.error;
  return new ApiError({
    status: first?.error.status ?? 0,
    code: first?.error.code ?? "internal",
    title: t.failed(outcome.failed.length, outcome.failed.length + outcome.done.length),
    detail: outcome.failed
      .slice(0, 3)
      .map((f) => `${titleOf(f.session)}: ${f.error.message}`)
      .join("; "),
    hint: first?.error.hint,
  });
}
