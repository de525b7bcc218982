import { Archive, CircleStop, CloudOff, Hourglass, PhoneIncoming, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import type { Hold, Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { clip, oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { formatMoment } from "../ui/format";
import { ErrorNote } from "../ui/notes";
import { useAct } from "./act";
import css from "./Bars.module.css";
import { openPanel } from "./panels";
import { refusal } from "./useSession";

/** What stands in the way of a session, a line for each, with what can be done about it. */
export function Bars({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  return (
    <div role="status" className={css.bars}>
      {snapshot.state === "ended" && <EndedBar session={session} snapshot={snapshot} />}
      {snapshot.state === "offline" && (
        <Bar tone="warn" icon={<CloudOff size={16} />}>
          {snapshot.node ? t.agentOfflineOn(oneLine(snapshot.node, 63)) : t.agentOffline}
        </Bar>
      )}
      {waitsForCall(snapshot) && (
        <Bar tone="neutral" icon={<PhoneIncoming size={16} />}>
          {t.waitsForCall}
        </Bar>
      )}
      {snapshot.retry && snapshot.state !== "ended" && (
        <Bar tone="warn" icon={<RotateCw size={16} />}>
          {t.retry(snapshot.retry.attempt, snapshot.retry.of, oneLine(snapshot.retry.error ?? "", 200))}
        </Bar>
      )}
      {snapshot.holds?.map((hold) => (
        <HoldBar key={hold.id} session={session} snapshot={snapshot} hold={hold} />
      ))}
      {snapshot.archived && <ArchivedBar session={session} snapshot={snapshot} />}
    </div>
  );
}

/** Whether a session was made for a CLI that somebody starts by hand, and that has not come yet. */
function waitsForCall(session: Session): boolean {
  return session.state === "starting" && !session.linked && (session.transport === "websocket" || session.transport === "hybrid");
}

function Bar({
  tone,
  icon,
  actions,
  children,
}: {
  tone: "neutral" | "warn" | "danger";
  icon: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={classes(css.bar, css[tone])}>
      <span className={css.icon} aria-hidden="true">
        {icon}
      </span>
      <div className={css.text}>{children}</div>
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

function EndedBar({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const { ended } = snapshot;
  const failed = ended?.unfinished === true || (ended?.code ?? 0) !== 0 || ended?.signal !== undefined;
  const why = refusal(hub, snapshot, { scope: "prompt" });
  const resume = () =>
    act.run(async () => {
      await hub.api.call("resume-session", { params: { id: session.id }, body: { client_id: clientIds.of(snapshot.run) } });
      clientIds.done();
    });
  return (
    <Bar
      tone={failed ? "danger" : "neutral"}
      icon={<CircleStop size={16} />}
      actions={
        <Button size="s" isPending={act.pending} isDisabled={why !== undefined} reason={why} onPress={() => void resume()}>
          {t.resume}
        </Button>
      }
    >
      <p>
        {ended?.reason ? t.ended(oneLine(ended.reason, 500)) : t.endedPlain}
        {ended?.code !== undefined && ended.code !== 0 && ` ${t.exitCode(ended.code)}.`}
        {ended?.unfinished && ` ${t.unfinished}`}
      </p>
      {ended?.stderr && (
        <details className={css.details}>
          <summary>{t.stderr}</summary>
          <pre>{clip(ended.stderr, 10_000).text}</pre>
        </details>
      )}
      <ErrorNote error={act.error} />
    </Bar>
  );
}

function HoldBar({ session, snapshot, hold }: { session: OpenSession; snapshot: Session; hold: Hold }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const why = refusal(hub, snapshot, { scope: "admin" });
  const release = (atReset: boolean) =>
    act.run(async () => {
      const body = { client_id: clientIds.of([hold.id, atReset]), hold: hold.id, ...(atReset ? { at_reset: true } : {}) };
      await hub.api.call("release-session", { params: { id: session.id }, body });
      clientIds.done();
    });
  const rate = hold.kind === "rate_limit";
  return (
    <Bar
      tone="warn"
      icon={<Hourglass size={16} />}
      actions={
        <>
          {rate && hold.until && !hold.resumes && (
            <Button
              size="s"
              isPending={act.pending}
              isDisabled={why !== undefined}
              reason={why}
              onPress={() => void release(true)}
            >
              {t.atReset}
            </Button>
          )}
          {rate ? (
            <Button
              size="s"
              isPending={act.pending}
              isDisabled={why !== undefined}
              reason={why}
              onPress={() => void release(false)}
            >
              {t.release}
            </Button>
          ) : (
            <Button size="s" isDisabled={why !== undefined} reason={why} onPress={() => openPanel(session, "hold")}>
              {t.releaseMore}
            </Button>
          )}
        </>
      }
    >
      <p>
        {t.held(oneLine(hold.reason, 500))}
        {hold.until && (
          <>
            {" "}
            {t.heldUntil} <time dateTime={hold.until}>{formatMoment(hold.until)}</time>.{hold.resumes && ` ${t.heldResumes}`}
          </>
        )}
      </p>
      <ErrorNote error={act.error} />
    </Bar>
  );
}

function ArchivedBar({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const why = refusal(hub, snapshot, { scope: "prompt" });
  return (
    <Bar
      tone="neutral"
      icon={<Archive size={16} />}
      actions={
        <Button
          size="s"
          isPending={act.pending}
          isDisabled={why !== undefined}
          reason={why}
          onPress={() => void act.run(() => hub.api.call("unarchive-session", { params: { id: session.id } }))}
        >
          {t.unarchive}
        </Button>
      }
    >
      <p>{t.archivedBar}</p>
      <ErrorNote error={act.error} />
    </Bar>
  );
}
