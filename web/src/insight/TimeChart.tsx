import { type PointerEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { insightTexts } from "../texts/insight";
import { type Bucket, bucketName, dayName, formatAmount, type Measure, ticks } from "./spending";
import css from "./TimeChart.module.css";

const t = insightTexts;
const height = 200;
const below = 22;
const above = 10;

/** Bars over time. Who cannot see them has the same numbers as a table, and a sentence that says the most important. */
export function TimeChart({ list, measure, today }: { list: readonly Bucket[]; measure: Measure; today: string }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hovered, setHovered] = useState<number>();
  const most = Math.max(0, ...list.map((b) => b.amount));
  const marks = ticks(most, measure);
  const top = marks.at(-1) || 1;
  const labels = marks.map((m) => formatAmount(measure, m));
  const left = Math.max(...labels.map((l) => l.length)) * 7 + 12;
  const plot = Math.max(1, width - left - 8);
  const slot = plot / Math.max(1, list.length);
  const bar = Math.max(1, Math.min(40, slot * 0.72));
  const y = (n: number) => above + (height - above - below) * (1 - n / top);
  const x = (i: number) => left + slot * i + (slot - bar) / 2;
  const shown = hovered === undefined ? undefined : list[hovered];
  const every = Math.max(1, Math.ceil(list.length / Math.max(1, Math.floor(plot / 64))));

  const hover = (e: PointerEvent<SVGSVGElement>) => {
    const at = Math.floor((e.clientX - e.currentTarget.getBoundingClientRect().left - left) / slot);
    setHovered(at >= 0 && at < list.length ? at : undefined);
  };

  return (
    <figure className={css.figure}>
      <p className={css.readout} aria-hidden="true">
        {shown ? (
          <>
            <strong>{formatAmount(measure, shown.amount)}</strong> {bucketName(shown, today)}
          </>
        ) : (
          " "
        )}
      </p>
      <div ref={ref} className={css.frame}>
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={sentence(list, measure, today)}
            onPointerMove={hover}
            onPointerDown={hover}
            onPointerLeave={() => setHovered(undefined)}
          >
            {marks.map((m, i) => (
              <g key={m}>
                <line x1={left} x2={width} y1={y(m)} y2={y(m)} className={m === 0 ? css.base : css.grid} />
                <text x={left - 8} y={y(m) + 4} className={css.label} textAnchor="end">
                  {labels[i]}
                </text>
              </g>
            ))}
            {list.map((b, i) => (
              <g key={b.from}>
                {b.amount > 0 && (
                  <rect
                    x={x(i)}
                    y={Math.min(y(b.amount), y(0) - 2)}
                    width={bar}
                    height={Math.max(2, y(0) - y(b.amount))}
                    rx={Math.min(3, bar / 3)}
                    className={i === hovered ? css.barOn : css.bar}
                  />
                )}
                {(list.length - 1 - i) % every === 0 && (
                  <text x={Math.min(x(i) + bar / 2, width - 22)} y={height - 6} className={css.label} textAnchor="middle">
                    {dayName(b.from, today)}
                  </text>
                )}
              </g>
            ))}
          </svg>
        )}
      </div>
      <details className={css.details}>
        <summary>{t.asTable}</summary>
        <div className={css.scroll}>
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">{t.costs.when}</th>
                <th scope="col">{t.measure[measure]}</th>
              </tr>
            </thead>
            <tbody>
              {list.toReversed().map((b) => (
                <tr key={b.from}>
                  <th scope="row">{bucketName(b, today)}</th>
                  <td>{formatAmount(measure, b.amount)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function sentence(list: readonly Bucket[], measure: Measure, today: string): string {
  const what = t.costs.overTime[measure];
  const first = list[0];
  const last = list.at(-1);
  const most = list.reduce<Bucket | undefined>((a, b) => (a && a.amount >= b.amount ? a : b), undefined);
  if (!first || !last || !most || most.amount === 0) return t.costs.chartEmpty(what);
  return t.costs.chart(
    what,
    dayName(first.from, today),
    dayName(last.to, today),
    formatAmount(measure, most.amount),
    bucketName(most, today),
  );
}

/** Measures how wide an element is, so that a drawing has sharp lines and letters of the right size at any width. */
function useWidth<E extends HTMLElement>(): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
