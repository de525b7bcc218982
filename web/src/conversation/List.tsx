import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { OpenSession } from "../store/hub";
import { useReadable } from "../store/readable";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { Button, Spinner } from "../ui";
import { PlaceContext } from "./context";
import styles from "./List.module.css";
import { goTo, Row } from "./Row";

/** What the page does with the list. */
export interface ListHandle {
  /** Selects the row that lies so many after the selected one; the first or last that is seen if none is. */
  step(by: number): void;
  first(): void;
  end(): void;
  /** Selects a row, wherever it is, and shows it. A row that does not exist yet is shown as soon as it does. */
  show(id: string): void;
}

// How near the end counts as being there for who scrolls down: about a line of text.
const endDistance = 32;
// Older messages are fetched when so few rows are left above.
const olderAt = 12;

/** The items of a conversation: as many rows as fit on the screen, whatever the number of items. */
export function List({ session, handle }: { session: OpenSession; handle: RefObject<ListHandle | null> }) {
  const order = useReadable(session.order);
  const { ids } = order;
  const { selected, wanted: focus } = useContext(PlaceContext);
  const scroll = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<string>();

  const getItemKey = useCallback((i: number) => ids[i] ?? i, [ids]);
  // The selected row has the focus: it stays, or the focus would be lost with it.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const chosen = selected.get();
      const shown = defaultRangeExtractor(range);
      const at = chosen === undefined ? -1 : ids.indexOf(topOf(session, chosen));
      if (at < 0 || shown.includes(at)) return shown;
      return at < (shown[0] ?? 0) ? [at, ...shown] : [...shown, at];
    },
    [ids, selected, session],
  );
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: ids.length,
    getScrollElement: () => scroll.current,
    estimateSize: (i) => estimate(session.item(ids[i] ?? "").get()),
    getItemKey,
    rangeExtractor,
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 16,
    // What is read stays where it is when older rows come, and the end is followed while the reader is there.
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: 2,
    directDomUpdates: true,
    directDomUpdatesMode: "position",
  });
  const toEnd = useCallback(() => virtualizer.scrollToEnd(), [virtualizer]);
  const { atEnd, byHand } = useFollow(scroll, toEnd);
  useEffect(() => session.reading(atEnd), [session, atEnd]);

  const firstDrawn = virtualizer.range?.startIndex ?? 0;
  const drawn = virtualizer.range !== null && ids.length > 0;
  useEffect(() => {
    if (drawn && order.older && !order.loading && !order.error && firstDrawn < olderAt) void session.older();
  }, [session, drawn, order.older, order.loading, order.error, firstDrawn]);

  const select = useCallback(
    (at: number, align: "auto" | "center" | "start") => {
      const id = ids[at];
      if (id === undefined) return;
      selected.set(id);
      const row = scroll.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
      focus.id = row ? undefined : id;
      if (row) goTo(row);
      const size = virtualizer.measurementsCache[at]?.size ?? 0;
      byHand();
      virtualizer.scrollToIndex(at, { align: size > (scroll.current?.clientHeight ?? 0) ? "start" : align });
    },
    [ids, focus, selected, virtualizer, byHand],
  );

  useEffect(() => {
    if (wanted === undefined) return;
    const at = ids.indexOf(topOf(session, wanted));
    if (at < 0) return;
    select(at, "center");
    setWanted(undefined);
  }, [wanted, ids, select, session]);

  useImperativeHandle(
    handle,
    () => ({
      step: (by) => {
        const chosen = selected.get();
        const before = chosen === undefined ? -1 : ids.indexOf(topOf(session, chosen));
        const range = virtualizer.range;
        const none = by > 0 ? (range?.startIndex ?? 0) : (range?.endIndex ?? ids.length - 1);
        select(before < 0 ? none : Math.min(Math.max(before + by, 0), ids.length - 1), "auto");
      },
      first: () => select(0, "start"),
      end: () => {
        selected.set(undefined);
        toEnd();
      },
      show: setWanted,
    }),
    [ids, select, selected, session, toEnd, virtualizer],
  );

  // A press anywhere in a row selects it. Safari gives no focus to what is pressed, and fingers have no other way.
  useEffect(() => {
    const element = scroll.current;
    const choose = (e: Event) => {
      const row = e.target instanceof Element ? e.target.closest<HTMLElement>("[data-item]") : null;
      if (row?.dataset.item !== undefined && document.getSelection()?.isCollapsed !== false) selected.set(row.dataset.item);
    };
    element?.addEventListener("click", choose);
    return () => element?.removeEventListener("click", choose);
  }, [selected]);

  const news = useNews(ids, atEnd);
  const rows = virtualizer.getVirtualItems();
  return (
    <div className={styles.frame}>
      {order.loading && ids.length > 0 ? (
        <p className={styles.older}>
          <Spinner label={t.olderLoading} />
        </p>
      ) : null}
      <div ref={scroll} className={styles.scroll} role="feed" aria-label={t.conversation} aria-busy={order.loading}>
        <div ref={virtualizer.containerRef} className={styles.all}>
          {rows.map((row) => (
            <div key={row.key} ref={virtualizer.measureElement} data-index={row.index} className={styles.place}>
              <Row session={session} id={ids[row.index] ?? ""} place={row.index + 1} />
            </div>
          ))}
        </div>
      </div>
      {atEnd || ids.length === 0 ? null : (
        <Button className={styles.pill} size="s" icon={<ArrowDown size={14} />} kbd="G" onPress={() => handle.current?.end()}>
          {news > 0 ? t.news(news) : t.toEnd}
        </Button>
      )}
    </div>
  );
}

/** How long after somebody has done something a movement of the list may come of it. */
const handTime = 2000;

/**
 * Whether the reader is at the end, and keeps them there: whatever grows or shrinks, in the list or around it, only
 * scrolling up leaves the end, and scrolling down to it comes back. byHand is to be called when the list is about to be moved on purpose.
 */
export function useFollow(scroll: RefObject<HTMLElement | null>, toEnd: () => void): { atEnd: boolean; byHand(): void } {
  const [atEnd, setAtEnd] = useState(true);
  const hand = useRef(Number.NEGATIVE_INFINITY);
  const byHand = useCallback(() => {
    hand.current = performance.now();
  }, []);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!element) return;
    let at = true;
    let [top, room, all] = [0, 0, 0];
    const look = () => {
      [top, room, all] = [element.scrollTop, element.clientHeight, element.scrollHeight];
    };
    look();
    const left = () => element.scrollHeight - element.clientHeight - element.scrollTop;
    const onScroll = () => {
      const up = element.scrollTop < top;
      // The list is also moved up by the browser, when it gets more room (a question below it is answered) or its rows shrink, and by
      // what measures rows. All of that changes its sizes, which nobody does who scrolls: and yet somebody may scroll at the same time.
      const moved = element.clientHeight > room || element.scrollHeight < all;
      const changed = element.clientHeight !== room || element.scrollHeight !== all;
      look();
      if (at && up && (performance.now() - hand.current < handTime ? moved : changed)) {
        if (left() > 1) toEnd();
        return;
      }
      // Rows that were measured above move everything by a little: the end is then still where it was.
      if (up ? left() > 2 : left() > endDistance) at = up ? false : at;
      else at = true;
      setAtEnd(at);
    };
    const observer = new ResizeObserver(() => {
      if (at && left() > 1) toEnd();
      look();
    });
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    element.addEventListener("scroll", onScroll, { passive: true });
    const hands = ["wheel", "touchmove", "pointerdown", "keydown", "focusin"];
    for (const name of hands) element.addEventListener(name, byHand, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
      for (const name of hands) element.removeEventListener(name, byHand);
    };
  }, [scroll, toEnd, byHand]);
  return { atEnd, byHand };
}

/** How many rows have come at the end since the reader left it. */
function useNews(ids: readonly string[], atEnd: boolean): number {
  const [seen, setSeen] = useState<string>();
  const last = ids.at(-1);
  if (atEnd && seen !== last) setSeen(last);
  return useMemo(() => {
    const at = seen === undefined ? -1 : ids.lastIndexOf(seen);
    return at < 0 ? 0 : ids.length - 1 - at;
  }, [ids, seen]);
}

/** The item at the top that holds another one: the tool whose sub-agent it belongs to. */
function topOf(session: OpenSession, id: string): string {
  let top = id;
  for (let depth = 0; depth < 20; depth++) {
    const parent = session.item(top).get()?.parent;
    if (parent === undefined) break;
    top = parent;
  }
  return top;
}

/** About how high a row will be. The nearer the better the scroll bar; each is measured once it is drawn. */
function estimate(item: Item | undefined): number {
  switch (item?.kind) {
    case "prompt":
      return item.synthetic ? 36 : 100;
    case "text":
      return 32 + Math.ceil(Math.min(item.text.length, 20_000) / 90) * 22;
    case "tool":
      return 76;
    case "turn":
      return 44;
    default:
      return 34;
  }
}
