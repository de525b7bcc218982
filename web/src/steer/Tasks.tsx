import type { Session, Task } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button } from "../ui/buttons";
import { Dialog } from "../ui/dialogs";
import { ErrorNote } from "../ui/notes";
import { Badge } from "../ui/signs";
import { visible } from "../ui/visible";
import { useAct } from "./act";
import css from "./Form.module.css";
import { closePanel } from "./panels";
import { refusal } from "./useSession";

/** Sub-agents and commands in the background, each to be stopped. */
export function TasksPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const tasks = snapshot.tasks ?? [];
  return (
    <Dialog title={t.tasksTitle} isOpen onClose={closePanel}>
      <div className={css.form}>
        <p className={css.dim}>{t.tasksText}</p>
        {tasks.length === 0 ? (
          <p>{t.tasksNone}</p>
        ) : (
          <ul className={css.items}>
            {tasks.map((task) => (
              <Row key={task.id} session={session} snapshot={snapshot} task={task} />
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

function Row({ session, snapshot, task }: { session: OpenSession; snapshot: Session; task: Task }) {
  const hub = useHub();
  const act = useAct();
  const why = refusal(hub, snapshot, { scope: "admin", running: true });
  const name = visible(oneLine(task.description || task.id, 200));
  const stop = () =>
    void act.run(() =>
      hub.api.call("control-session", {
        params: { id: session.id },
        body: { request: { subtype: "stop_task", task_id: task.id } },
      }),
    );
  return (
    <li>
      {task.kind && <Badge>{oneLine(task.kind, 40)}</Badge>}
      <span>{name}</span>
      <ErrorNote error={act.error} />
      <Button
        size="s"
        aria-label={t.taskStopOf(name)}
        isPending={act.pending}
        isDisabled={why !== undefined}
        reason={why}
        onPress={stop}
      >
        {t.taskStop}
      </Button>
    </li>
  );
}
