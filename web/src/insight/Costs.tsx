import { ChartColumn } from "lucide-react";
import { useCallback, useState } from "react";
import type { BudgetUse } from "../api/types";
import { Link } from "../app/router";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { insightTexts } from "../texts/insight";
import { Select } from "../ui/fields";
import { formatDuration, formatMoney, formatTokens } from "../ui/format";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Badge, Spinner } from "../ui/signs";
import { Path } from "../ui/values";
import { visible } from "../ui/visible";
import css from "./Costs.module.css";
import { ShareTable } from "./ShareTable";
import { amount, buckets, dayBegin, firstDay, formatAmount, localDay, type Measure, type Spending, type Spent } from "./spending";
import { TimeChart } from "./TimeChart";
import { useAfterChange, useLoad } from "./useLoad";
import { useSessionTitle } from "./useSessionItems";

const t = insightTexts.costs;
const ranges = ["7", "30", "90", "all"] as const;
type Range = (typeof ranges)[number];

function isRange(id: string): id is Range {
  return ranges.some((r) => r === id);
}

/** What agents have cost: over time, by model, folder and session, and what is left of budgets. */
export function Costs() {
  const hub = useHub();
  const [range, setRange] = useState<Range>("30");
  const [chosen, setMeasure] = useState<Measure>("usd");

  const read = useCallback(
    async (signal: AbortSignal) => {
      const from = range === "all" ? undefined : firstDay(Number(range), Date.now());
      const since = from ? dayBegin(from) : undefined;
      const by = async (what: "day" | "model" | "dir" | "session"): Promise<Spending> =>
        hub.api.call("get-costs", { query: { by: what, since }, signal });
      const [day, model, dir, session, budgets] = await Promise.all([
        by("day"),
        by("model"),
        by("dir"),
        by("session"),
        hub.api.call("get-budgets", { signal }),
      ]);
      return { from, today: localDay(Date.now()), day, model, dir, session, budgets: budgets.budgets ?? [] };
    },
    [hub, range],
  );
  const { value, error, loading, again } = useLoad(read);
  // Each turn that ends changes what its session has cost in all.
  const spent = usePart(hub.sessions, sumOf);
  useAfterChange(spent, 3000, again);

  const hasTokens = value?.day.tokens !== undefined;
  const measures: Measure[] = ["usd", "turns", "ms", ...(hasTokens ? (["tokens"] as const) : [])];
  // Another time may have no tokens to show.
  const measure = measures.find((m) => m === chosen) ?? "usd";
  const chart = value && buckets(items(value.day), measure, value.from, value.today);
  return (
    <div className={css.page}>
      <div className={css.controls}>
        <Select
          label={insightTexts.range.label}
          hideLabel
          size="s"
          value={range}
          onChange={(id) => isRange(id) && setRange(id)}
          items={ranges.map((id) => ({ id, label: insightTexts.range[id] }))}
        />
        <Select
          label={insightTexts.measure.label}
          hideLabel
          size="s"
          value={measure}
          onChange={(id) => setMeasure(measures.find((m) => m === id) ?? "usd")}
          items={measures.map((id) => ({ id, label: insightTexts.measure[id] }))}
        />
        {loading && value && <Spinner />}
      </div>
      <ErrorNote error={error} onRetry={again} />
      {!value && loading && <Spinner />}
      {value && (
        <>
          <dl className={css.totals}>
            {measures.map((m) => (
              <div key={m} className={css.total}>
                <dt>{t.total[m]}</dt>
                <dd>{formatAmount(m, amount(value.day, m))}</dd>
                {m === "tokens" && value.day.tokens && (
                  <dd className={css.split}>
                    {t.tokenSplit(
                      formatTokens(value.day.tokens.input + value.day.tokens.cache_write),
                      formatTokens(value.day.tokens.output),
                      formatTokens(value.day.tokens.cache_read),
                    )}
                  </dd>
                )}
              </div>
            ))}
          </dl>
          {value.day.turns === 0 || !chart ? (
            <EmptyState icon={<ChartColumn size={24} />} title={t.empty}>
              {t.emptyHint}
            </EmptyState>
          ) : (
            <>
              <section>
                <h2 className={css.heading}>
                  {t.overTime[measure]}{" "}
                  <span className={css.faint}>{{ day: t.perDay, week: t.perWeek, month: t.perMonth }[chart.step]}</span>
                </h2>
                <TimeChart list={chart.list} measure={measure} today={value.today} />
              </section>
              <div className={css.shares}>
                <ShareTable
                  title={t.by.model}
                  name={t.name.model}
                  items={items(value.model)}
                  measure={measure}
                  cell={(i) => i.key || t.unknownModel}
                />
                <ShareTable
                  title={t.by.dir}
                  name={t.name.dir}
                  items={items(value.dir)}
                  measure={measure}
                  cell={(i) => (i.key ? <Path path={i.key} /> : t.noFolder)}
                />
                <ShareTable
                  title={t.by.session}
                  name={t.name.session}
                  items={items(value.session)}
                  measure={measure}
                  cell={(i) => (
                    <Link to={{ page: "session", id: i.key, view: "timeline" }}>{visible(i.title ?? "") || t.untitled}</Link>
                  )}
                />
              </div>
            </>
          )}
          <Budgets list={value.budgets} />
          <p className={css.note}>{t.note}</p>
        </>
      )}
    </div>
  );
}

function items(spending: Spending): readonly Spent[] {
  return spending.items ?? [];
}

function sumOf(sessions: { byId: ReadonlyMap<string, { usd: number }> }): number {
  let sum = 0;
  for (const s of sessions.byId.values()) sum += s.usd;
  return sum;
}

function Budgets({ list }: { list: readonly BudgetUse[] }) {
  const b = insightTexts.budgets;
  return (
    <section>
      <h2 className={css.heading}>{b.title}</h2>
      {list.length === 0 ? (
        <p className={css.note}>{b.empty}</p>
      ) : (
        <ul className={css.budgets}>
          {list.map((use) => {
            const share = use.limit > 0 ? Math.min(1, use.used / use.limit) : 0;
            const tone = use.over || share >= 1 ? "over" : share >= 0.8 ? "near" : "fine";
            const words = b.of(budgetAmount(use.unit, use.used), budgetAmount(use.unit, use.limit));
            return (
              <li key={`${use.name} ${use.unit} ${use.per}`} className={css.budget}>
                <div className={css.budgetHead}>
                  <span>
                    <strong>{use.name}</strong> <span className={css.faint}>{b.per[use.per] ?? use.per}</span>
                  </span>
                  <span className={css.budgetUse}>
                    {tone === "over" && <Badge tone="danger">{b.over}</Badge>} {words}
                  </span>
                </div>
                <div className={css.meter} aria-hidden="true">
                  <span className={css[tone]} style={{ inlineSize: `${share * 100}%` }} />
                </div>
                <span className={css.faint}>
                  {b.action[use.action] ?? use.action}
                  {use.scope && (
                    <>
                      , {b.most} <Scope use={use} />
                    </>
                  )}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

/** The session or the folder that has used most of a budget. */
function Scope({ use }: { use: BudgetUse }) {
  const title = useSessionTitle(use.scope ?? "");
  if (use.per !== "session") return <Path path={use.scope ?? ""} />;
  return <Link to={{ page: "session", id: use.scope ?? "", view: "timeline" }}>{title}</Link>;
}

function budgetAmount(unit: string, n: number): string {
  switch (unit) {
    case "usd":
      return formatMoney(n);
    case "turns":
      return insightTexts.budgets.turns(n);
    case "wall":
    case "idle":
      return formatDuration(n * 1000);
    default:
      return `${n} ${unit}`;
  }
}
