import { RefreshCw } from "lucide-react";
import { useCallback, useState } from "react";
import type { Json, Session } from "../api/types";
import { useLoad } from "../insight/useLoad";
import { secretDraft } from "../store/drafts";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { arr, isObject, obj, oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button, IconButton } from "../ui/buttons";
import { Dialog } from "../ui/dialogs";
import { Switch, TextArea } from "../ui/fields";
import { ErrorNote, Note } from "../ui/notes";
import { Badge, Spinner, type Tone } from "../ui/signs";
import { visible } from "../ui/visible";
import { useAct } from "./act";
import { readJson } from "./json";
import css from "./Mcp.module.css";
import { closePanel } from "./panels";
import { type McpServer, serversOf, takesRequests } from "./told";
import { refusal } from "./useSession";

/** The MCP servers of an agent: their states and tools, each to be connected anew or switched off, and more to be added. */
export function McpPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const running = takesRequests(snapshot);
  const read = useCallback(
    async (signal: AbortSignal) =>
      running ? serversOf((await hub.api.call("get-mcp", { params: { id: session.id }, signal })).response) : undefined,
    [hub, running, session.id],
  );
  const { value: servers, error, loading, again } = useLoad(read);
  const why = refusal(hub, snapshot, { scope: "admin", running: true });
  return (
    <Dialog
      title={t.mcp}
      isOpen
      onClose={closePanel}
      size="l"
      isDismissable={false}
      actions={
        <Button icon={<RefreshCw size={14} />} isPending={loading} isDisabled={!running} reason={t.notRunning} onPress={again}>
          {t.refresh}
        </Button>
      }
    >
      {why && <Note tone="warn">{why}</Note>}
      {loading && !servers && <Spinner />}
      <ErrorNote error={error} onRetry={again} />
      {servers?.length === 0 && <p className={css.dim}>{t.mcpNone}</p>}
      <ul>
        {servers?.map((server) => (
          <Server key={server.name} session={session} server={server} why={why} onChanged={again} />
        ))}
      </ul>
      <AddServers session={session} why={why} onChanged={again} />
    </Dialog>
  );
}

const tones: Readonly<Record<string, Tone>> = { connected: "ok", failed: "danger", "needs-auth": "warn", pending: "accent" };

function Server({
  session,
  server,
  why,
  onChanged,
}: {
  session: OpenSession;
  server: McpServer;
  why: string | undefined;
  onChanged: () => void;
}) {
  const { api } = useHub();
  const act = useAct();
  const params = { id: session.id, server: server.name };
  const change = (work: () => Promise<unknown>) => void act.run(work).then(onChanged);
  return (
    <li className={css.server}>
      <div className={css.row}>
        <Switch
          isSelected={server.status !== "disabled"}
          isDisabled={why !== undefined}
          onChange={(enabled) => change(() => api.call("toggle-mcp-server", { params, body: { enabled } }))}
          aria-label={t.mcpToggle(server.name)}
        />
        <span className={css.name}>{visible(oneLine(server.name, 120))}</span>
        <Badge tone={tones[server.status] ?? "neutral"}>{t.mcpStatus(server.status)}</Badge>
        <span className={css.dim}>{[server.version, server.transport, server.scope].filter(Boolean).join(" · ")}</span>
        <IconButton
          size="s"
          icon={<RefreshCw size={14} />}
          label={t.mcpReconnectOf(oneLine(server.name, 60))}
          isPending={act.pending}
          isDisabled={why !== undefined}
          reason={why}
          onPress={() => change(() => api.call("reconnect-mcp-server", { params }))}
        />
      </div>
      {server.error && <p className={css.error}>{server.error}</p>}
      {server.status === "needs-auth" && <p className={css.dim}>{t.mcpAuth}</p>}
      {server.tools.length > 0 && (
        <details className={css.details}>
          <summary>{t.mcpToolCount(server.tools.length)}</summary>
          <ul>
            {server.tools.map((tool) => (
              <li key={tool.name}>
                <code>{tool.name}</code> <span className={css.dim}>{tool.hint}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <ErrorNote error={act.error} />
    </li>
  );
}

function AddServers({ session, why, onChanged }: { session: OpenSession; why: string | undefined; onChanged: () => void }) {
  const { api } = useHub();
  const act = useAct();
  const cell = secretDraft(`mcp.${session.id}`);
  const text = useReadable(cell);
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<Json>();
  const apply = async () => {
    setDone(undefined);
    const read = readJson(text);
    setProblem(read.problem);
    if (read.value === undefined) return;
    const { value: servers } = read;
    const result = await act.run(() => api.call("set-mcp", { params: { id: session.id }, body: { servers } }));
    if (!result) return;
    setDone(result.response ?? null);
    onChanged();
  };
  return (
    <div className={css.add}>
      <h3>{t.mcpAdd}</h3>
      <TextArea
        label={t.mcpAddLabel}
        hint={t.mcpAddHint}
        error={problem}
        placeholder={t.mcpAddExample}
        mono
        value={text}
        onChange={cell.set}
        isDisabled={why !== undefined}
        minRows={3}
        maxRows={12}
        input={{ spellCheck: false }}
      />
      <ErrorNote error={act.error} />
      {done !== undefined && <Outcome answer={done} />}
      <Button
        isPending={act.pending}
        isDisabled={why !== undefined || text.trim() === ""}
        reason={why}
        onPress={() => void apply()}
        className={css.apply}
      >
        {t.mcpApply}
      </Button>
    </div>
  );
}

/** What became of servers that were set. */
function Outcome({ answer }: { answer: Json }) {
  const names = (member: string) =>
    arr(answer, member)
      .filter((n) => typeof n === "string")
      .map((n) => oneLine(n, 60))
      .join(", ");
  const errors = Object.entries(obj(answer, "errors"));
  const added = names("added");
  const removed = names("removed");
  return (
    <Note tone={errors.length > 0 ? "warn" : "ok"}>
      {added && <p>{t.mcpAdded(added)}</p>}
      {removed && <p>{t.mcpRemoved(removed)}</p>}
      {!added && !removed && errors.length === 0 && <p>{t.mcpNothing}</p>}
      {errors.map(([name, error]) => (
        <p key={name}>{t.mcpError(oneLine(name, 60), oneLine(isObject(error) ? "" : String(error), 500))}</p>
      ))}
    </Note>
  );
}
