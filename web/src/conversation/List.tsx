import { defaultRangeExtractor, type Range as Rows, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
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
import { Button } from "../ui/buttons";
import { Spinner } from "../ui/signs";
import { PlaceContext } from "./context";
import { useExpand } from "./expand";
import { Folds, FoldsContext } from "./fold";
import { topOf } from "./found";
import { useHold } from "./hold";
import styles from "./List.module.css";
import { rangesOf } from "./paint";
import { places } from "./places";
import { goTo, Row } from "./Row";

/** What the page does with the list. */
export interface ListHandle {
  /** Selects the row that lies so many after the selected one; the first or last that is seen if none is. */
  step(by: number): void;
  /** Goes to the first message of the session, and reads all that lies before what is loaded. Whoever moves the list ends it. */
  first(): void;
  end(): void;
  /**
   * Selects a row, wherever it is, also one within a sub-agent's call, and shows it; with a text, which is in lower case, the place in it
   * where that stands. A row that does not exist yet is shown as soon as it does.
   */
  show(id: string, text?: string): void;
  /** Goes back to where somebody was, with so much of a row above the edge, unless they have moved the list since. */
  back(id: string, above: number): void;
  /** Keeps a row in place if what is done right after this changes its height. */
  keep(id: string): void;
}

/** How much room is left above what is shown, at least. */
const margin = 8;

// How near the end counts as being there for who scrolls down: about a line of text.
const endDistance = 32;
// What somebody does who moves the list.
const hands = ["wheel", "touchmove", "pointerdown"];
// Older messages are fetched when so few rows are left above.
const olderAt = 12;

/** The items of a conversation: as many rows as fit on the screen, whatever the number of items. */
export function List({ session, handle }: { session: OpenSession; handle: RefObject<ListHandle | null> }) {
  const order = useReadable(session.order);
  const { ids } = order;
  const { selected, wanted: focus } = useContext(PlaceContext);
  const scroll = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<{ id: string; text?: string }>();
  const [left, setLeft] = useState<{ id: string; above: number }>();
  const [toFirst, setToFirst] = useState<"going" | "there">();
  const folds = useContext(FoldsContext);

  const getItemKey = useCallback((i: number) => ids[i] ?? i, [ids]);
  // The selected row has the focus: it stays, or the focus would be lost with it.
  const rangeExtractor = useCallback(
    (range: Rows) => {
      const chosen = selected.get();
      const shown = defaultRangeExtractor(range);
      const at = chosen === undefined ? -1 : ids.indexOf(topOf(session, chosen));
      if (at < 0 || shown.includes(at)) return shown;
      return at < (shown[0] ?? 0) ? [at, ...shown] : [...shown, at];
    },
    [ids, selected, session],
  );
  const anchor = useRef<"start" | "end">("end");
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
    anchorTo: anchor.current,
    followOnAppend: true,
    scrollEndThreshold: 2,
    directDomUpdates: true,
    directDomUpdatesMode: "position",
  });
  const toEnd = useCallback(() => virtualizer.scrollToEnd(), [virtualizer]);
  const { atEnd, byHand, follow } = useFollow(scroll, toEnd);
  const { hold, release } = useHold(scroll);
  const anchorTo = useCallback(
    (end: "start" | "end") => {
      anchor.current = end;
      virtualizer.options.anchorTo = end; // at once, and not with the next drawing
    },
    [virtualizer],
  );
  const keep = useExpand(scroll, anchorTo, hold, follow);
  useEffect(() => session.reading(atEnd), [session, atEnd]);

  const firstDrawn = virtualizer.range?.startIndex ?? 0;
  const drawn = virtualizer.range !== null && ids.length > 0;
  useEffect(() => {
    if (drawn && order.older && !order.loading && !order.error && firstDrawn < olderAt) void session.older();
  }, [session, drawn, order.older, order.loading, order.error, firstDrawn]);

  const rowOf = useCallback(
    (id: string) => scroll.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`) ?? null,
    [],
  );
  const select = useCallback(
    (at: number, align: "auto" | "center" | "start", inner?: { id: string; text?: string }) => {
      const id = inner?.id ?? ids[at];
      if (id === undefined) return;
      selected.set(id);
      const row = rowOf(id);
      focus.id = row ? undefined : id;
      if (row) goTo(row);
      const size = virtualizer.measurementsCache[at]?.size ?? 0;
      byHand();
      release();
      virtualizer.scrollToIndex(at, { align: size > (scroll.current?.clientHeight ?? 0) ? "start" : align });
      if (!inner) return;
      follow.leave();
      hold(() => placeOf(rowOf(inner.id), inner.text), centred, follow.look);
    },
    [ids, focus, selected, virtualizer, byHand, follow, hold, release, rowOf],
  );

  useEffect(() => {
    if (toFirst !== "there") return;
    setToFirst(undefined);
    select(0, "start");
  }, [toFirst, select]);
  useEffect(() => {
    const element = scroll.current;
    if (toFirst !== "going" || !element) return;
    const stop = () => setToFirst(undefined);
    let current = true;
    const go = async () => {
      while (current && session.order.get().older && !session.order.get().error) await session.older(true);
      if (current) setToFirst(session.order.get().error ? undefined : "there");
    };
    void go();
    for (const name of hands) element.addEventListener(name, stop, { passive: true });
    return () => {
      current = false;
      for (const name of hands) element.removeEventListener(name, stop);
    };
  }, [toFirst, session]);

  useEffect(() => {
    if (wanted === undefined) return;
    const at = ids.indexOf(topOf(session, wanted.id));
    if (at < 0) return;
    select(at, "center", ids[at] === wanted.id && wanted.text === undefined ? undefined : wanted);
    setWanted(undefined);
  }, [wanted, ids, select, session]);

  useEffect(() => {
    if (left === undefined) return;
    const at = ids.indexOf(left.id);
    if (at < 0) return;
    setLeft(undefined);
    if (follow.moved()) return;
    follow.leave();
    virtualizer.scrollToIndex(at, { align: "start" });
    hold(
      () => rowOf(left.id),
      () => -left.above,
      follow.look,
    );
  }, [left, ids, virtualizer, follow, hold, rowOf]);
  useKeptPlace(session, scroll, virtualizer, follow, folds);

  useImperativeHandle(
    handle,
    () => ({
      step: (by) => {
        setToFirst(undefined);
        const chosen = selected.get();
        const before = chosen === undefined ? -1 : ids.indexOf(topOf(session, chosen));
        const range = virtualizer.range;
        const none = by > 0 ? (range?.startIndex ?? 0) : (range?.endIndex ?? ids.length - 1);
        let at = before < 0 ? none : before + by;
        // What is asked below is not shown here, and cannot have the focus.
        while (rowOf(ids[at] ?? "")?.hidden) at += Math.sign(by);
        if (at >= 0 && at < ids.length) select(at, "auto");
        else if (before >= 0) select(before, "auto");
      },
      first: () => {
        // At the end the list follows new rows; leaving it keeps the position.
        follow.leave();
        setToFirst("going");
      },
      end: () => {
        setToFirst(undefined);
        selected.set(undefined);
        release();
        toEnd();
      },
      show: (id, text) => {
        setToFirst(undefined);
        setWanted({ id, ...(text !== undefined && { text }) });
      },
      back: (id, above) => setLeft({ id, above }),
      keep: (id) => {
        const row = rowOf(topOf(session, id));
        if (row) keep(row);
      },
    }),
    [ids, select, selected, session, toEnd, virtualizer, release, follow, rowOf, keep],
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
      {(order.loading || toFirst) && ids.length > 0 ? (
        <p className={styles.older}>
          <Spinner label={toFirst ? t.toFirst(ids.length) : t.olderLoading} />
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
/** The same for a change of its sizes: what measures rows may move it some frames later. */
const settleTime = 1000;

/** Where a text stands within a row; the row itself if it is not drawn, or no text is wanted. */
function placeOf(row: HTMLElement | null, text: string | undefined): HTMLElement | Range | null {
  const [range] = row && text !== undefined ? rangesOf(row, text, 1) : [];
  if (!row || !range) return row;
  // Long outputs are scrolled by themselves.
  for (let around = range.startContainer.parentElement; around && around !== row; around = around.parentElement) {
    if (around.scrollHeight <= around.clientHeight + 1 || getComputedStyle(around).overflowY === "visible") continue;
    const [box, edge] = [range.getBoundingClientRect(), around.getBoundingClientRect()];
    if (box.top < edge.top || box.bottom > edge.bottom) around.scrollTop += box.top - edge.top - around.clientHeight / 2;
  }
  return range;
}

/** Where something of a height is to stand in a window of another. */
function centred(height: number, room: number): number {
  return Math.max((room - height) / 2, margin);
}

/** Remembers where the reader was when the list goes. */
function useKeptPlace(
  session: OpenSession,
  scroll: RefObject<HTMLElement | null>,
  virtualizer: Virtualizer<HTMLDivElement, HTMLDivElement>,
  follow: Follow,
  folds: Folds | undefined,
): void {
  useLayoutEffect(() => {
    const element = scroll.current;
    return () => {
      const rows = virtualizer.measurementsCache;
      let at = element && !follow.isAtEnd() ? (virtualizer.getVirtualItemForOffset(element.scrollTop)?.index ?? -1) : -1;
      // What is being written is not in the log yet.
      while (at >= 0 && !session.item(String(rows[at]?.key)).get()?.event) at--;
      const row = rows[at];
      const item = row && session.item(String(row.key)).get();
      places.keep(
        session.id,
        element && row && item?.event
          ? { id: item.id, event: item.event, above: element.scrollTop - row.start, folds: folds ?? new Folds() }
          : undefined,
      );
    };
  }, [session, scroll, virtualizer, follow, folds]);
}

/** What others do with who follows the end. All of it is the same as long as the list is. */
interface Follow {
  isAtEnd(): boolean;
  /** Whether somebody has moved the list, or was about to. */
  moved(): boolean;
  /** Leaves the end, before the list is moved away from there. */
  leave(): void;
  /** Looks where the list has been moved to. */
  look(): void;
}

/**
 * Whether the reader is at the end, and keeps them there: whatever grows or shrinks, in the list or around it, only
 * scrolling up leaves the end, and scrolling down to it comes back. byHand is to be called when the list is about to be moved on purpose.
 */
export function useFollow(
  scroll: RefObject<HTMLElement | null>,
  toEnd: () => void,
): { atEnd: boolean; byHand(): void; follow: Follow } {
  const [atEnd, setAtEnd] = useState(true);
  const end = useRef(true);
  const hand = useRef(Number.NEGATIVE_INFINITY);
  const follow = useMemo(() => {
    const set = (at: boolean) => {
      end.current = at;
      setAtEnd(at);
    };
    return {
      isAtEnd: () => end.current,
      moved: () => hand.current > Number.NEGATIVE_INFINITY,
      leave: () => set(false),
      look: () => {
        const element = scroll.current;
        set(element !== null && element.scrollHeight - element.clientHeight - element.scrollTop <= 2);
      },
    };
  }, [scroll]);
  const byHand = useCallback(() => {
    hand.current = performance.now();
  }, []);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!element) return;
    let [top, room, all] = [element.scrollTop, element.clientHeight, element.scrollHeight];
    let resized = Number.NEGATIVE_INFINITY;
    const look = () => {
      if (element.clientHeight !== room || element.scrollHeight !== all) resized = performance.now();
      [top, room, all] = [element.scrollTop, element.clientHeight, element.scrollHeight];
    };
    const left = () => element.scrollHeight - element.clientHeight - element.scrollTop;
    const onScroll = () => {
      const up = element.scrollTop < top;
      // The list is also moved up by the browser, when it gets more room (a question below it is answered) or its rows shrink, and by
      // what measures rows. All of that changes its sizes, which nobody does who scrolls: and yet somebody may scroll at the same time.
      const moved = element.clientHeight > room || element.scrollHeight < all;
      look();
      const now = performance.now();
      if (end.current && up && (now - hand.current < handTime ? moved : now - resized < settleTime)) {
        if (left() > 1) toEnd();
        return;
      }
      // Rows that were measured above move everything by a little: the end is then still where it was.
      if (up ? left() > 2 : left() > endDistance) end.current = up ? false : end.current;
      else end.current = true;
      setAtEnd(end.current);
    };
    const observer = new ResizeObserver(() => {
      if (end.current && left() > 1) toEnd();
      look();
    });
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    element.addEventListener("scroll", onScroll, { passive: true });
    const acts = [...hands, "keydown", "focusin"];
    for (const name of acts) element.addEventListener(name, byHand, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
      for (const name of acts) element.removeEventListener(name, byHand);
    };
  }, [scroll, toEnd, byHand]);
  return { atEnd, byHand, follow };
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
