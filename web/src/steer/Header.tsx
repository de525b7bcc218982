import {
  Archive,
  ArchiveRestore,
  ArrowLeft,
  ChartGantt,
  Copy,
  Download,
  Ellipsis,
  Gauge,
  GitFork,
  ListChecks,
  ListTodo,
  OctagonX,
  Pencil,
  Play,
  Plug,
  SquareTerminal,
  Terminal,
  Variable,
} from "lucide-react";
import { type ReactNode, useCallback, useEffect } from "react";
import type { Info, Session } from "../api/types";
import { useCommands } from "../app/commands";
import { back, go, href } from "../app/router";
import { MachineName } from "../machines/MachineName";
import { stateOf } from "../sessions/list";
import { type Hub, type OpenSession, useHub } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { IconButton, MenuButton, type MenuItems } from "../ui/buttons";
import { copyText } from "../ui/CopyButton";
import { useWide } from "../ui/hooks";
import { ErrorNote } from "../ui/notes";
import { Badge, Spinner, StateDot } from "../ui/signs";
import { toast, toastError } from "../ui/toast";
import { Path } from "../ui/values";
import { Bars } from "./Bars";
import { ContextMeter } from "./Context";
import css from "./Header.module.css";
import { LimitFact } from "./Limits";
import { Panels } from "./Panels";
import { closePanel, openedPanel, openFork, openPanel } from "./panels";
import { SandboxBadge } from "./Sandbox";
import { Title } from "./Title";
import { refusal } from "./useSession";

function isSimulated(info: Info | undefined): boolean {
  return info?.simulated === true;
}

/** What a session is and does, and everything by which it is steered beside the composer. */
export function SessionHeader({ session }: { session: OpenSession }) {
  const hub = useHub();
  const { session: snapshot, error } = useReadable(session.snapshot);
  const items = useActions(session, snapshot);
  const wide = useWide();
  // Whoever leaves the session while a panel is open, by the browser's own keys, does not find it there when coming back.
  useEffect(
    () => () => {
      if (openedPanel.get()?.session === session.id) closePanel();
    },
    [session.id],
  );
  // Where all agents are simulated the banner says so.
  const banner = usePart(hub.info, isSimulated);
  const leave = !wide && <IconButton icon={<ArrowLeft size={18} />} label={t.back} onPress={() => back({ page: "sessions" })} />;
  if (!snapshot) {
    return (
      <header className={css.header}>
        {leave}
        {error ? <ErrorNote error={error} onRetry={hub.retry} /> : <Spinner />}
      </header>
    );
  }
  const tasks = snapshot.tasks?.length ?? 0;
  return (
    <>
      <header className={css.header}>
        {leave}
        <div className={css.what}>
          <Title key={session.id} session={session} snapshot={snapshot} />
          <div className={css.facts}>
            <StateDot state={stateOf({ ...snapshot, questions: snapshot.questions?.length ?? 0 })} word className={css.state} />
            {snapshot.node && (
              <a className={css.machine} href={href({ page: "machines" })}>
                <MachineName node={snapshot.node} />
              </a>
            )}
            {snapshot.simulated && !banner && <Badge title={t.simulatedHint}>{t.simulated}</Badge>}
            {snapshot.unauthenticated && <Badge title={t.unauthenticatedHint}>{t.unauthenticated}</Badge>}
            {snapshot.runner && <Badge title={t.runnerHint}>{t.runner(oneLine(snapshot.runner, 40))}</Badge>}
            {snapshot.relay && <Badge title={t.relayHint(snapshot.relay)}>{t.relay}</Badge>}
            {snapshot.archived && <Badge>{t.archivedBadge}</Badge>}
            {snapshot.sandbox && <SandboxBadge sandbox={snapshot.sandbox} />}
            {snapshot.dir && <Path path={snapshot.dir} most={44} className={css.folder} />}
            <LimitFact session={session} snapshot={snapshot} />
            {tasks > 0 && (
              <button type="button" className={css.fact} onClick={() => openPanel(session, "tasks")}>
                {t.tasks(tasks)}
              </button>
            )}
          </div>
        </div>
        <div className={css.tools}>
          <ContextMeter session={session} snapshot={snapshot} />
          <MenuButton label={t.more} icon={<Ellipsis size={18} />} items={items} placement="bottom end" />
        </div>
      </header>
      <Bars session={session} snapshot={snapshot} />
      <Panels session={session} snapshot={snapshot} />
    </>
  );
}

/** The name of a file that a session is exported to. */
function fileName(session: Session, ending: string): string {
  const name = oneLine(session.title || session.id, 60).replace(/[^\p{L}\p{N}._ -]+/gu, "-");
  return `${name || session.id}.${ending}`;
}

/** Everything that can be done with a session, as entries of its menu and of the palette. */
function useActions(session: OpenSession, snapshot: Session | undefined): MenuItems {
  const hub = useHub();
  const archive = useCallback(
    () => void setArchived(hub, session.id, !snapshot?.archived),
    [hub, session.id, snapshot?.archived],
  );
  const save = (format: "markdown" | "jsonl" | "events", ending: string) => {
    if (!snapshot) return;
    hub.api
      .download("export-session", { params: { id: session.id }, query: { format } }, fileName(snapshot, ending))
      .catch(toastError);
  };
  const entry = (id: string, label: string, icon: ReactNode, run: () => void, why?: string) => ({
    id,
    label,
    icon,
    run,
    ...(why ? { isDisabled: true, hint: why } : {}),
  });
  const ended = snapshot?.state === "ended";
  const admin = refusal(hub, snapshot, { scope: "admin" });
  const prompt = refusal(hub, snapshot, { scope: "prompt" });
  const noConversation = snapshot?.conversation ? undefined : t.noConversation;
  const panels = [
    entry("context", t.contextEntry, <Gauge size={16} />, () => openPanel(session, "context")),
    entry("mcp", t.mcpEntry, <Plug size={16} />, () => openPanel(session, "mcp"), refusal(hub, snapshot, { running: true })),
    entry("rules", t.rulesEntry, <ListChecks size={16} />, () => openPanel(session, "rules")),
    entry("tasks", t.tasksEntry, <ListTodo size={16} />, () => openPanel(session, "tasks")),
    {
      id: "timeline",
      label: t.timelineEntry,
      icon: <ChartGantt size={16} />,
      href: href({ page: "session", id: session.id, view: "timeline" }),
    },
  ];
  const acts = [
    entry("rename", t.rename, <Pencil size={16} />, () => openPanel(session, "rename"), prompt),
    entry("fork", t.forkEntry, <GitFork size={16} />, () => openFork(session), admin ?? noConversation),
    entry("handback", t.handbackEntry, <Terminal size={16} />, () => openPanel(session, "handback"), noConversation),
    ...(ended || snapshot?.state === "offline"
      ? [entry("resume", t.resumeEntry, <Play size={16} />, () => openPanel(session, "resume"), prompt)]
      : []),
    entry(
      "environment",
      t.environmentEntry,
      <Variable size={16} />,
      () => openPanel(session, "environment"),
      admin ?? refusal(hub, snapshot, { running: true }),
    ),
    entry(
      "control",
      t.controlEntry,
      <SquareTerminal size={16} />,
      () => openPanel(session, "control"),
      admin ?? refusal(hub, snapshot, { running: true }),
    ),
  ];
  const files = [
    entry("markdown", t.exportMarkdown, <Download size={16} />, () => save("markdown", "md")),
    entry("jsonl", t.exportJsonl, <Download size={16} />, () => save("jsonl", "jsonl")),
    entry("events", t.exportEvents, <Download size={16} />, () => save("events", "events.jsonl")),
    entry("copy", t.copyId, <Copy size={16} />, () => void copyText(session.id)),
  ];
  const archived = snapshot?.archived
    ? entry("archive", t.unarchiveEntry, <ArchiveRestore size={16} />, archive, prompt)
    : entry("archive", t.archiveEntry, <Archive size={16} />, archive, prompt);
  const stop = { ...entry("stop", t.stopEntry, <OctagonX size={16} />, () => openPanel(session, "stop"), admin), danger: true };
  const all = [...panels, ...acts, ...files, archived, ...(ended ? [] : [stop])];
  useCommands(
    t.group,
    all.flatMap((e) => {
      if ("isDisabled" in e) return [];
      const run = "run" in e ? e.run : () => go({ page: "session", id: session.id, view: "timeline" });
      return [{ id: `session ${e.id}`, label: e.label, run }];
    }),
  );
  return [...panels, null, ...acts, null, ...files, null, archived, ...(ended ? [] : [stop])];
}

async function setArchived(hub: Hub, id: string, to: boolean): Promise<void> {
  try {
    await hub.api.call(to ? "archive-session" : "unarchive-session", { params: { id } });
    toast({
      title: to ? t.archived : t.unarchived,
      ...(to ? { action: { label: t.undo, run: () => void setArchived(hub, id, false) } } : {}),
    });
  } catch (e) {
    toastError(e);
  }
}
