import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import type { SessionSummary } from "../api/types";
import { useReadable } from "../store/readable";
import { markOf, seen } from "../store/seen";
import { sessionsTexts as t } from "../texts/sessions";
import type { Act } from "./actions";
import type { Row } from "./list";
import css from "./SessionList.module.css";
import { SessionRow } from "./SessionRow";
import { scrolled } from "./view";

/** About how high a row is; each is measured when it is drawn. */
const rowHeight = 72;
const groupHeight = 30;

interface Props {
  rows: readonly Row[];
  selected?: string;
  /** Headings name the folders. */
  byFolder: boolean;
  chosen?: ReadonlySet<string>;
  onChoose(id: string, chosen: boolean): void;
  onSelect(id: string): void;
  onAct(act: Act, session: SessionSummary): void;
  /** What stands below the last row. */
  foot?: ReactNode;
}

/** The rows of the list, of which only those in sight are drawn. The arrow keys go from one to the next. */
export function SessionList({ rows, selected, byFolder, chosen, onChoose, onSelect, onAct, foot }: Props) {
  const looked = useReadable(seen);
  const scroller = useRef<HTMLDivElement>(null);
  /** The row that is to have the focus once it is drawn. */
  const wanted = useRef<number | undefined>(undefined);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => (rows[i]?.kind === "group" ? groupHeight : rowHeight),
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 6,
    initialOffset: scrolled.get,
  });

  // A session that was opened from elsewhere is shown in the list, too. Where the list is otherwise scrolled to is left alone.
  const latest = useRef({ rows, virtual });
  latest.current = { rows, virtual };
  useEffect(() => {
    if (!selected) return;
    const at = latest.current.rows.findIndex((row) => row.id === selected);
    if (at >= 0) latest.current.virtual.scrollToIndex(at, { align: "auto" });
  }, [selected]);

  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`);
    if (!link) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  });

  const onKeyDown = (e: KeyboardEvent): void => {
    if (!(e.target instanceof HTMLAnchorElement) || e.altKey || e.ctrlKey || e.metaKey) return;
    const at = Number(e.target.closest("[data-index]")?.getAttribute("data-index"));
    const to = target(rows, at, e.key);
    if (to === undefined) return;
    e.preventDefault();
    wanted.current = to;
    virtual.scrollToIndex(to, { align: "auto" });
    const drawn = scroller.current?.querySelector<HTMLElement>(`[data-index="${to}"] a`);
    if (drawn) {
      wanted.current = undefined;
      drawn.focus({ preventScroll: true });
    }
  };

  return (
    <div className={css.scroller} ref={scroller} onScroll={(e) => scrolled.set(e.currentTarget.scrollTop)}>
      <ul className={css.list} aria-label={t.list} style={{ blockSize: virtual.getTotalSize() }} onKeyDown={onKeyDown}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <li
              key={item.key}
              className={css.item}
              data-index={item.index}
              ref={virtual.measureElement}
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {row.kind === "group" ? (
                <h3 className={css.group} title={row.full}>
                  <span className={css.label}>{row.label}</span> <span className={css.count}>{row.count}</span>
                </h3>
              ) : (
                <SessionRow
                  session={row.session}
                  current={row.id === selected}
                  hideFolder={byFolder}
                  mark={row.id === selected ? undefined : markOf(looked, row.session)}
                  chosen={chosen?.has(row.id)}
                  onChoose={onChoose}
                  onSelect={onSelect}
                  onAct={onAct}
                />
              )}
            </li>
          );
        })}
      </ul>
      {foot && <div className={css.foot}>{foot}</div>}
    </div>
  );
}

/** The row that a key leads to from another one; headings are skipped. */
export function target(rows: readonly Row[], at: number, key: string): number | undefined {
  const next = (from: number, by: number): number | undefined => {
    for (let i = from; i >= 0 && i < rows.length; i += by) if (rows[i]?.kind === "session") return i;
    return undefined;
  };
  switch (key) {
    case "ArrowDown":
      return next(at + 1, 1);
    case "ArrowUp":
      return next(at - 1, -1);
    case "Home":
      return next(0, 1);
    case "End":
      return next(rows.length - 1, -1);
    default:
      return undefined;
  }
}
