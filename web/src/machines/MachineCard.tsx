import { CirclePause, CirclePlay, Copy, EllipsisVertical, ListFilter, OctagonX, Trash2, TriangleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { Node } from "../api/types";
import { go } from "../app/router";
import { filterText, look } from "../sessions/view";
import { type Hub, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { machinesTexts as t } from "../texts/machines";
import { MenuButton } from "../ui/buttons";
import { copyText } from "../ui/CopyButton";
import { classes } from "../ui/classes";
import { confirm } from "../ui/dialogs";
import { Note } from "../ui/notes";
import { Badge } from "../ui/signs";
import { toast, toastError } from "../ui/toast";
import { Ago } from "../ui/values";
import { visible } from "../ui/visible";
import css from "./MachineCard.module.css";
import { formatBytes, isConnected, knownState, labelWords, loadPercent, skewWords, timeOf } from "./machines";

/** A machine: what it is, how it does, and what can be done with it. */
export function MachineCard({ node, onChanged }: { node: Node; onChanged(): void }) {
  const title = useId();
  const name = visible(node.name);
  const state = knownState(node);
  const skew = skewWords(node);
  const labels = labelWords(node.labels);
  return (
    <article
      className={css.card}
      aria-labelledby={title}
      tabIndex={-1}
      data-machine={node.id}
      data-off={!isConnected(node) || undefined}
    >
      <header className={css.head}>
        <div className={css.what}>
          <h2 id={title} className={css.name}>
            {name}
          </h2>
          <span className={classes(css.state, css[state ?? "offline"])} title={state ? t.statesMean[state] : undefined}>
            <span className={css.dot} aria-hidden="true" />
            {state ? t.states[state] : visible(node.state)}
          </span>
          {node.draining && state === "offline" && <Badge tone="warn">{t.drainingToo}</Badge>}
          <LastSeen node={node} />
        </div>
        <Actions node={node} onChanged={onChanged} />
      </header>
      {labels.length > 0 && (
        <ul className={css.labels} aria-label={t.facts.labels(name)}>
          {labels.map((label) => (
            <li key={label} className={css.label} title={label}>
              {label}
            </li>
          ))}
        </ul>
      )}
      {skew && (
        <Note tone="warn" icon={<TriangleAlert size={16} aria-hidden="true" />} title={skew}>
          <p>{t.skewHint}</p>
        </Note>
      )}
      <Gauges node={node} />
      <Facts node={node} />
    </article>
  );
}

function LastSeen({ node }: { node: Node }) {
  if (isConnected(node)) return null;
  const seen = timeOf(node.last_seen);
  return (
    <span className={css.seen}>
      {seen === undefined ? (
        t.facts.never
      ) : (
        <>
          {t.facts.lastSeen} <Ago time={seen} />
        </>
      )}
    </span>
  );
}

/** What is used of a machine. Load and memory of one that is not connected are not known. */
function Gauges({ node }: { node: Node }) {
  const load = loadPercent(node);
  const memory = node.memory_bytes ?? 0;
  const free = Math.min(node.memory_free ?? 0, memory);
  const most = node.max_sessions ?? 0;
  return (
    <div className={css.gauges}>
      <Gauge
        name={t.facts.sessions}
        words={most > 0 ? t.facts.sessionsOf(node.sessions, most) : t.facts.sessionsPlain(node.sessions)}
        part={most > 0 ? node.sessions / most : undefined}
      />
      {load !== undefined && (
        <Gauge name={t.facts.load} words={t.facts.loadOf(load, node.cpus ?? 1)} part={load / 100} warnFrom={0.9} />
      )}
      {memory > 0 && isConnected(node) && (
        <Gauge
          name={t.facts.memory}
          words={t.facts.memoryOf(formatBytes(free), formatBytes(memory))}
          part={1 - free / memory}
          warnFrom={0.9}
        />
      )}
    </div>
  );
}

/** A number with a bar that shows how much of the whole it is; without a whole, the number alone. */
function Gauge({ name, words, part, warnFrom = 1 }: { name: string; words: string; part?: number; warnFrom?: number }) {
  const percent = part === undefined ? undefined : Math.round(Math.min(1, Math.max(0, part)) * 100);
  return (
    <div className={css.gauge}>
      <span className={css.gaugeName}>{name}</span>
      {percent !== undefined && (
        // biome-ignore lint/a11y/useSemanticElements: each browser draws a meter in its own way, and some ignore styles
        <div
          className={css.bar}
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
          aria-valuetext={words}
          data-warn={(part ?? 0) >= warnFrom || undefined}
        >
          <span className={css.filled} style={{ inlineSize: `${percent}%` }} />
        </div>
      )}
      <span className={css.gaugeWords}>{words}</span>
    </div>
  );
}

function Facts({ node }: { node: Node }) {
  const hub = useHub();
  const version = useReadable(hub.info)?.version;
  const system = [node.os && node.arch ? `${node.os}/${node.arch}` : (node.os ?? node.arch), node.hostname]
    .filter(Boolean)
    .map((word) => visible(word ?? ""));
  const told = timeOf(node.last_seen) !== undefined;
  return (
    <dl className={css.facts}>
      {told && <Clis node={node} />}
      {node.version && (
        <Fact name={t.facts.program}>
          {visible(node.version)}
          {version && version !== node.version && <span className={css.other}>{t.facts.otherVersion(version)}</span>}
        </Fact>
      )}
      {system.length > 0 && <Fact name={t.facts.system}>{system.join(" · ")}</Fact>}
      {told && (
        <Fact name={t.facts.sandbox}>
          {node.sandbox ? visible(node.sandbox) : <span className={css.warn}>{t.facts.sandboxNone}</span>}
        </Fact>
      )}
      {node.address && <Fact name={t.facts.address}>{visible(node.address)}</Fact>}
      <Fact name={t.facts.fingerprint}>
        <code className={css.key} title={t.facts.fingerprintHint}>
          {node.fingerprint}
        </code>
      </Fact>
    </dl>
  );
}

/** The CLIs that a machine has: its sessions run the first. */
function Clis({ node }: { node: Node }) {
  const clis = node.clis ?? [];
  return (
    <Fact name={t.facts.clis}>
      {clis.length === 0 ? (
        <span className={css.warn} title={t.facts.clisNoneHint}>
          {t.facts.clisNone}
        </span>
      ) : (
        <ul className={css.clis}>
          {clis.map((cli) => (
            <li key={cli.path} title={cli.path}>
              {visible(cli.version || t.facts.versionUnknown)}
              {cli.simulated && ` (${t.facts.simulated})`}
              <span className={css.path}>{visible(cli.path)}</span>
            </li>
          ))}
        </ul>
      )}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Actions({ node, onChanged }: { node: Node; onChanged(): void }) {
  const hub = useHub();
  const admin = hub.can("admin");
  const name = visible(node.name);
  const act = (id: string, label: string, icon: ReactNode, hint: string, run: () => void, danger = false) => ({
    id,
    label,
    icon,
    danger,
    isDisabled: !admin,
    hint: admin ? hint : t.needAdmin,
    run,
  });
  const revoked = node.state === "revoked";
  return (
    <MenuButton
      className={css.menu}
      label={t.actions.more(name)}
      icon={<EllipsisVertical size={16} />}
      placement="bottom end"
      items={[
        { id: "sessions", label: t.actions.sessions, icon: <ListFilter size={16} />, run: () => showSessions(node) },
        {
          id: "copy",
          label: t.actions.copyId,
          icon: <Copy size={16} />,
          run: () => void copyText(node.id).then((done) => done && toast({ title: t.actions.copied, tone: "ok" })),
        },
        null,
        ...(revoked
          ? []
          : [
              node.draining
                ? act(
                    "undrain",
                    t.actions.undrain,
                    <CirclePlay size={16} />,
                    t.actions.undrainHint,
                    () => void drain(hub, node, false, onChanged),
                  )
                : act(
                    "drain",
                    t.actions.drain,
                    <CirclePause size={16} />,
                    t.actions.drainHint,
                    () => void drain(hub, node, true, onChanged),
                  ),
              act(
                "revoke",
                t.actions.revoke,
                <OctagonX size={16} />,
                t.actions.revokeHint,
                () => void revoke(hub, node, onChanged),
                true,
              ),
            ]),
        act(
          "forget",
          t.actions.forget,
          <Trash2 size={16} />,
          t.actions.forgetHint,
          () => void forget(hub, node, onChanged),
          true,
        ),
      ]}
    />
  );
}

/** Goes to the list of sessions, with those of a machine only. */
function showSessions(node: Node): void {
  look.set({ ...look.get(), states: "all" });
  filterText.set(node.name);
  go({ page: "sessions" });
}

async function drain(hub: Hub, node: Node, draining: boolean, onChanged: () => void): Promise<void> {
  const name = visible(node.name);
  try {
    await hub.api.call("drain-node", { params: { node: node.id }, body: { draining } });
    toast({ title: draining ? t.drained(name, node.sessions) : t.undrained(name), tone: "ok" });
  } catch (e) {
    toastError(e);
  }
  onChanged();
}

async function revoke(hub: Hub, node: Node, onChanged: () => void): Promise<void> {
  const name = visible(node.name);
  const done = await confirm({
    title: t.revoke.title(name),
    action: t.revoke.action,
    danger: true,
    children: (
      <div className={css.words}>
        <p>{t.revoke.text}</p>
        <p>{node.sessions === 0 ? t.revoke.none : t.revoke.sessions(node.sessions)}</p>
        <p>{t.revoke.after}</p>
      </div>
    ),
    run: () => hub.api.call("revoke-node", { params: { node: node.id } }),
  });
  if (done) toast({ title: t.revoked(name), tone: "ok" });
  onChanged();
}

async function forget(hub: Hub, node: Node, onChanged: () => void): Promise<void> {
  const name = visible(node.name);
  const done = await confirm({
    title: t.forget.title(name),
    action: t.forget.action,
    danger: true,
    children: (
      <div className={css.words}>
        <p>{t.forget.text}</p>
        <p>{node.sessions === 0 ? t.forget.none : t.forget.sessions(node.sessions)}</p>
        {node.sessions > 0 && <p>{t.forget.processes}</p>}
      </div>
    ),
    run: () => hub.api.call("forget-node", { params: { node: node.id } }),
  });
  if (done) toast({ title: t.forgotten(name), tone: "ok" });
  onChanged();
}
