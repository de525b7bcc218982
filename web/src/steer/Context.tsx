import { RefreshCw } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { ApiError } from "../api/error";
import type { BudgetUse, Json, Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { arr, isObject, num, oneLine, str } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button, Tooltip } from "../ui/buttons";
import { classes } from "../ui/classes";
import { Dialog } from "../ui/dialogs";
import { formatDuration, formatMoney, formatTokens } from "../ui/format";
import { ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { Money } from "../ui/values";
import { useAct } from "./act";
import css from "./Context.module.css";
import { Gauge, Limits } from "./Limits";
import { closePanel, openPanel } from "./panels";
import { takesRequests } from "./told";

/** How full the context window is, and what the session has cost; a press shows more. */
export function ContextMeter({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const percent = percentOf(snapshot);
  return (
    <Tooltip text={t.contextEntry}>
      <Button variant="quiet" size="s" className={css.meter} onPress={() => openPanel(session, "context")}>
        <span className={css.unseen}>{percent === undefined ? t.contextEntry : t.contextFull}</span>
        {percent !== undefined && (
          <>
            <Gauge percent={percent} />
            <span>{percent} %</span>
            <span className={css.unseen}>{t.costWord}</span>
          </>
        )}
        <Money usd={snapshot.cost?.usd ?? 0} className={percent === undefined ? "" : css.cost} />
      </Button>
    </Tooltip>
  );
}

/** How full the context window is, in whole percent. */
export function percentOf(session: Session): number | undefined {
  const { percent, tokens, max } = session.context ?? {};
  const share = percent ?? (tokens !== undefined && max ? (tokens / max) * 100 : undefined);
  return share === undefined || !Number.isFinite(share) ? undefined : Math.max(0, Math.min(100, Math.round(share)));
}

interface Part {
  readonly name: string;
  readonly tokens: number;
  readonly free: boolean;
}

/** The parts of the context window in an answer to get_context_usage. */
export function partsOf(answer: Json | undefined): readonly Part[] {
  return arr(answer, "categories")
    .slice(0, 100)
    .map((c) => ({
      name: oneLine(str(c, "name"), 80),
      tokens: num(c, "tokens") ?? 0,
      free: str(c, "kind") === "free" || /^free space$/i.test(str(c, "name")),
    }))
    .filter((p) => p.tokens > 0);
}

/** What takes up the context window, what the session has cost, and what is left of its budgets. */
export function ContextPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const { api } = useHub();
  const { pending, error, run } = useAct();
  // A CLI that is too old to tell is nothing that could be tried again.
  const tooOld = error instanceof ApiError && error.code === "unsupported";
  const [answer, setAnswer] = useState<Json>();
  const running = takesRequests(snapshot);
  const load = useCallback(
    () =>
      void run(() => api.call("get-context", { params: { id: session.id } })).then(
        (result) => result && setAnswer(result.response ?? null),
      ),
    [api, run, session.id],
  );
  useEffect(() => {
    if (running) load();
  }, [load, running]);

  const percent = percentOf(snapshot);
  const used = num(answer, "totalTokens") ?? snapshot.context?.tokens;
  const max = num(answer, "maxTokens") ?? snapshot.context?.max;
  const compactAt = num(answer, "autoCompactThreshold");
  return (
    <Dialog
      title={t.context}
      isOpen
      onClose={closePanel}
      size="m"
      actions={
        <Button icon={<RefreshCw size={14} />} isPending={pending} isDisabled={!running} reason={t.notRunning} onPress={load}>
          {t.refresh}
        </Button>
      }
    >
      <section className={css.section} aria-label={t.contextParts}>
        {percent !== undefined && (
          <p className={css.lead}>
            <Gauge percent={percent} /> {t.contextMeter(percent)}
            {used !== undefined && max !== undefined && (
              <span className={css.dim}> {t.contextOf(formatTokens(used), formatTokens(max))}</span>
            )}
          </p>
        )}
        {!running && <p className={css.dim}>{t.contextRefused}</p>}
        {pending && !answer && <Spinner />}
        {tooOld ? <p className={css.dim}>{t.contextTooOld}</p> : <ErrorNote error={error} onRetry={load} />}
        <Parts parts={partsOf(answer)} max={max} />
        {compactAt !== undefined && <p className={css.dim}>{t.compactAt(formatTokens(compactAt))}</p>}
        <Sizes title={t.memory} list={arr(answer, "memoryFiles")} name="path" />
        <Sizes title={t.mcpTools} list={arr(answer, "mcpTools")} name="name" />
      </section>
      <Costs snapshot={snapshot} />
      <Budgets budgets={snapshot.budgets ?? []} />
      <Limits snapshot={snapshot} />
    </Dialog>
  );
}

function Parts({ parts, max }: { parts: readonly Part[]; max: number | undefined }) {
  if (parts.length === 0) return null;
  const whole = max || parts.reduce((sum, p) => sum + p.tokens, 0);
  return (
    <table className={css.table}>
      <thead>
        <tr>
          <th scope="col">{t.part}</th>
          <th scope="col">{t.tokens}</th>
          <th scope="col">{t.share}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map((p) => (
          <tr key={p.name} className={classes(p.free && css.free)}>
            <th scope="row">{p.name}</th>
            <td>{formatTokens(p.tokens)}</td>
            <td>
              <span className={css.share}>
                <Gauge percent={Math.min(100, (p.tokens / whole) * 100)} />
                <span className={css.percent}>{Math.round((p.tokens / whole) * 100)} %</span>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A list of things with their sizes, folded: it may be long. */
function Sizes({ title, list, name }: { title: string; list: readonly Json[]; name: string }) {
  if (list.length === 0) return null;
  return (
    <details className={css.details}>
      <summary>
        {title} ({list.length})
      </summary>
      <ul>
        {list.slice(0, 200).map((item, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent may tell the same name twice
          <li key={i} className={css.size}>
            <span>{oneLine(str(item, name), 200)}</span>
            <span>{formatTokens(num(item, "tokens") ?? 0)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Costs({ snapshot }: { snapshot: Session }) {
  const { cost } = snapshot;
  if (!cost) return null;
  const models = isObject(cost.models) ? Object.entries(cost.models).slice(0, 50) : [];
  return (
    <section className={css.section} aria-label={t.costTitle}>
      <h3>{t.costTitle}</h3>
      <p>
        {formatMoney(cost.usd)} <span className={css.dim}>{`${t.turns(cost.turns)}, ${formatDuration(cost.ms)}`}</span>
      </p>
      {models.length > 0 && (
        <ul>
          {models.map(([name, figures]) => (
            <li key={name} className={css.size}>
              <span>{oneLine(name, 80)}</span>
              <span>{formatMoney(num(figures, "cost_usd") ?? 0)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Budgets({ budgets }: { budgets: readonly BudgetUse[] }) {
  if (budgets.length === 0) return null;
  return (
    <section className={css.section} aria-label={t.budgets}>
      <h3>{t.budgets}</h3>
      <ul>
        {budgets.map((b) => (
          <li key={`${b.name} ${b.unit}`} className={css.size}>
            <span>
              {b.name}{" "}
              <span className={css.dim}>
                {t.budgetLine(String(Math.round(b.used * 100) / 100), String(b.limit), b.unit, b.per)}
              </span>
            </span>
            <span className={css.share}>
              <Gauge percent={b.limit > 0 ? Math.min(100, (b.used / b.limit) * 100) : 100} />
              {b.over && t.budgetOver}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
