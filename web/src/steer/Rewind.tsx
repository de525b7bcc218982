import { useCallback, useEffect, useMemo, useState } from "react";
import type { RewindResult, Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button } from "../ui/buttons";
import { ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { toast } from "../ui/toast";
import { visible } from "../ui/visible";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import css from "./Form.module.css";
import { findMessage } from "./message";
import { closePanel, openFork } from "./panels";
import { refusal } from "./useSession";

/** How many paths are listed. */
const mostShown = 500;

/** Shows what restoring the files of before a message would change, and restores them when somebody has seen it. */
export function RewindPanel({ session, snapshot, uuid }: { session: OpenSession; snapshot: Session; uuid: string }) {
  const hub = useHub();
  const trial = useAct();
  const act = useAct();
  const [seen, setSeen] = useState<RewindResult>();
  const found = useMemo(() => findMessage(session, uuid), [session, uuid]);
  const { run: runTrial } = trial;
  const look = useCallback(
    () =>
      void runTrial(() =>
        hub.api.call("rewind-session", { params: { id: session.id }, body: { user_message_id: uuid, dry_run: true } }),
      ).then((result) => result && setSeen(result)),
    [hub, runTrial, session.id, uuid],
  );
  useEffect(look, [look]);
  const files = seen?.files_changed ?? [];
  const why = refusal(hub, snapshot, { scope: "admin", running: true });

  const restore = async () => {
    const result = await act.run(() =>
      hub.api.call("rewind-session", { params: { id: session.id }, body: { user_message_id: uuid } }),
    );
    if (!result) return;
    if (!result.can_rewind) {
      setSeen(result);
      return;
    }
    closePanel();
    toast({ title: t.rewound(result.files_changed?.length ?? files.length), tone: "ok" });
  };

  return (
    <ActPanel
      title={t.rewind}
      act={act}
      action={t.rewindAction}
      danger
      why={why}
      isDisabled={!seen?.can_rewind || files.length === 0}
      onAct={restore}
      other={
        found?.before &&
        hub.can("admin") && (
          <Button variant="quiet" onPress={() => openFork(session, uuid)}>
            {t.rewindFork}
          </Button>
        )
      }
    >
      <p>{t.rewindText}</p>
      {found && <blockquote className={css.quote}>{oneLine(found.text, 300)}</blockquote>}
      {trial.pending && (
        <p role="status">
          <Spinner /> {t.rewindChecking}
        </p>
      )}
      <ErrorNote error={trial.error} onRetry={look} />
      {seen && !seen.can_rewind && (
        <Note tone="warn" title={t.rewindCannot}>
          {seen.error && <p>{oneLine(seen.error, 1000)}</p>}
        </Note>
      )}
      {seen?.can_rewind && files.length === 0 && <p>{t.rewindNothing}</p>}
      {seen?.can_rewind && files.length > 0 && (
        <>
          <p>
            {t.rewindFiles(files.length)}{" "}
            {(seen.insertions || seen.deletions) && (
              <span className={css.dim}>{t.rewindLines(seen.insertions ?? 0, seen.deletions ?? 0)}</span>
            )}
          </p>
          <ul className={css.files}>
            {files.slice(0, mostShown).map((path) => (
              <li key={path}>{visible(oneLine(path, 1000))}</li>
            ))}
          </ul>
        </>
      )}
    </ActPanel>
  );
}
