import { ChevronsUp, Pencil, Undo2 } from "lucide-react";
import { useEffect } from "react";
import type { Message, Session } from "../api/types";
import { useAct } from "../steer/act";
import { isWorking, takesRequests } from "../steer/told";
import { refusal, useSession } from "../steer/useSession";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { clip, oneLine } from "../talk/json";
import { composeTexts as t } from "../texts/compose";
import { Button, IconButton } from "../ui/buttons";
import { TextArea } from "../ui/fields";
import { useNow } from "../ui/hooks";
import { ErrorNote } from "../ui/notes";
import { toast } from "../ui/toast";
import { contentOf } from "./attach";
import { editing, editsIn, giveBack, giveBackOnce, keepEdit, partsOf } from "./kept";
import css from "./Queue.module.css";

/** How long a message to an idle agent may be on its way before it counts as one that waits, in milliseconds. */
const soon = 1500;

/** The messages that wait for the agent, the next one first. Each can be changed, taken back, or given to the running turn. */
export function Queue({ session }: { session: OpenSession }) {
  const snapshot = useSession(session);
  const queued = snapshot?.messages?.filter((m) => m.state === "queued") ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it looks at is in the snapshot
  useEffect(() => giveBackEdits(session), [session, snapshot?.messages]);
  return queued.length === 0 || !snapshot ? null : <Waiting session={session} snapshot={snapshot} queued={queued} />;
}

/** The messages whose changes are on their way: what becomes of these is known when the hub has answered. */
const saving = new Set<string>();

/** Puts changes to messages that have left the queue into the field: they are too late, and must not be lost. */
function giveBackEdits(session: OpenSession): void {
  const { session: snapshot } = session.snapshot.get();
  if (!snapshot) return;
  for (const [id, edit] of editsIn(editing(session.id).get())) {
    if (saving.has(id) || snapshot.messages?.some((m) => m.id === id && m.state === "queued")) continue;
    keepEdit(session.id, id, undefined);
    if (edit.is === edit.was || edit.is.trim() === "") continue;
    giveBackOnce(session.id, edit.is);
    toast({ title: t.editTooLate, text: t.editGivenBack, tone: "warn" });
  }
}

function Waiting({ session, snapshot, queued }: { session: OpenSession; snapshot: Session; queued: readonly Message[] }) {
  const now = useNow(500);
  // What is given to an idle agent at once would only flash here.
  const leaves = snapshot.state === "idle" && snapshot.linked && (snapshot.holds?.length ?? 0) === 0;
  const waiting = leaves ? queued.filter((m) => now - Date.parse(m.created ?? "") > soon) : queued;
  if (waiting.length === 0) return null;
  return (
    <section className={css.queue} aria-label={t.queueLabel}>
      <h2 className={css.title} aria-live="polite">
        {t.queueTitle(waiting.length)}
      </h2>
      <ol className={css.list}>
        {waiting.map((message) => (
          <Queued key={message.id} session={session} message={message} />
        ))}
      </ol>
    </section>
  );
}

function Queued({ session, message }: { session: OpenSession; message: Message }) {
  const hub = useHub();
  const snapshot = useSession(session);
  const edit = editsIn(useReadable(editing(session.id))).get(message.id);
  const act = useAct();
  const { text, blocks } = partsOf(message);
  const reason = refusal(hub, snapshot, { scope: "prompt" });
  const params = { id: session.id, client_id: message.id };

  const write = (is: string) => keepEdit(session.id, message.id, { was: edit?.was ?? text, is });
  const close = () => keepEdit(session.id, message.id, undefined);
  const save = (is: string) =>
    act.run(async () => {
      const content = contentOf(
        is,
        blocks.map((block) => ({ block })),
      );
      saving.add(message.id);
      try {
        await hub.api.call("edit-message", { params, body: content ? { content } : { text: is } });
        // What was typed while it was on its way stays.
        if (editsIn(editing(session.id).get()).get(message.id)?.is === is) close();
      } finally {
        saving.delete(message.id);
        giveBackEdits(session);
      }
    });

  const takeBack = () =>
    act.run(async () => {
      await hub.api.call("take-back-message", { params });
      giveBack(session.id, message);
    });

  // There is no operation that does both: what cannot be written into the turn any more goes back into the field, so that it is not lost.
  const steer = () =>
    act.run(async () => {
      await hub.api.call("take-back-message", { params });
      try {
        const content = contentOf(
          text,
          blocks.map((block) => ({ block })),
        );
        await hub.api.call("send-message", {
          params: { id: session.id },
          body: { client_id: crypto.randomUUID(), mode: "steer", ...(content ? { content } : { text }) },
        });
      } catch (e) {
        giveBack(session.id, message);
        throw e;
      }
    });

  return (
    <li className={css.message}>
      {edit === undefined ? (
        <div className={css.row}>
          <p className={css.text} title={clip(text, 1000).text}>
            {oneLine(text, 300) || t.noText}
            {blocks.length > 0 && <span className={css.extra}> {t.withBlocks(blocks.length)}</span>}
            {message.by && <span className={css.extra}> {t.by(message.by)}</span>}
          </p>
          <div className={css.buttons}>
            {isWorking(snapshot?.state) && takesRequests(snapshot) && (
              <IconButton
                size="s"
                icon={<ChevronsUp size={14} />}
                label={t.steerThis}
                isPending={act.pending}
                isDisabled={reason !== undefined}
                reason={reason}
                onPress={() => void steer()}
              />
            )}
            <IconButton
              size="s"
              icon={<Pencil size={14} />}
              label={t.edit}
              isDisabled={reason !== undefined}
              reason={reason}
              onPress={() => write(text)}
            />
            <IconButton
              size="s"
              icon={<Undo2 size={14} />}
              label={t.takeBack}
              isPending={act.pending}
              isDisabled={reason !== undefined}
              reason={reason}
              onPress={() => void takeBack()}
            />
          </div>
        </div>
      ) : (
        <div className={css.edit}>
          <TextArea label={t.editLabel} hideLabel value={edit.is} onChange={write} autoFocus minRows={1} maxRows={8} />
          <div className={css.buttons}>
            <Button size="s" onPress={close}>
              {t.cancel}
            </Button>
            <Button
              size="s"
              variant="primary"
              isPending={act.pending}
              isDisabled={edit.is.trim() === "" && blocks.length === 0}
              onPress={() => void save(edit.is)}
            >
              {t.save}
            </Button>
          </div>
        </div>
      )}
      <ErrorNote error={act.error} />
    </li>
  );
}
