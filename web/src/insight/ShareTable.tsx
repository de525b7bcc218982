import { type ReactNode, useState } from "react";
import { insightTexts as t } from "../texts/insight";
import { Button } from "../ui/buttons";
import css from "./ShareTable.module.css";
import { amount, formatAmount, type Measure, percent, type Spent } from "./spending";

/** How many rows are shown before somebody asks for all. */
const few = 8;

/** Parts of the costs, the largest first, each with a bar: a table that is a chart as well. */
export function ShareTable({
  title,
  name,
  items,
  measure,
  cell,
}: {
  title: string;
  /** What the parts are: model, folder, session. */
  name: string;
  items: readonly Spent[];
  measure: Measure;
  cell: (item: Spent) => ReactNode;
}) {
  const [all, setAll] = useState(false);
  const sorted = items.filter((i) => amount(i, measure) > 0).sort((a, b) => amount(b, measure) - amount(a, measure));
  const most = sorted[0] ? amount(sorted[0], measure) : 1;
  const sum = sorted.reduce((s, i) => s + amount(i, measure), 0) || 1;
  const shown = all ? sorted : sorted.slice(0, few);
  if (sorted.length === 0) return null;
  return (
    <section className={css.section}>
      <h2 className={css.title}>{title}</h2>
      <table className={css.table}>
        <colgroup>
          <col />
          <col className={css.numbers} />
          <col className={css.shares} />
        </colgroup>
        <thead className={css.head}>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col">{t.measure[measure]}</th>
            <th scope="col">{t.costs.share}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((i) => {
            const n = amount(i, measure);
            return (
              <tr key={i.key} className={css.row}>
                <th scope="row" className={css.name}>
                  {cell(i)}
                  <span className={css.track} aria-hidden="true">
                    <span className={css.bar} style={{ inlineSize: `${Math.max(0.5, (n / most) * 100)}%` }} />
                  </span>
                </th>
                <td className={css.number}>{formatAmount(measure, n)}</td>
                <td className={css.share}>{percent(n / sum)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {sorted.length > few && (
        <Button variant="quiet" size="s" onPress={() => setAll(!all)}>
          {all ? t.fewer : t.all(sorted.length)}
        </Button>
      )}
    </section>
  );
}
