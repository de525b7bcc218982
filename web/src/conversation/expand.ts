import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { useHold } from "./hold";

/** What is known of a row before something in it is pressed. */
interface Before {
  readonly row: HTMLElement;
  readonly height: number;
  /** What should stay where it is, the best first, with how far below the edge of the list it is. */
  readonly places: readonly { readonly element: HTMLElement; readonly top: number }[];
}

/**
 * Keeps what is pressed under the pointer. The list holds on to its end while the reader is there, so a card that is expanded near the end
 * would grow upwards, away from who has opened it. Returns what keeps a row in place if what is done right after it changes its height.
 */
export function useExpand(
  scroll: RefObject<HTMLElement | null>,
  anchorTo: (end: "start" | "end") => void,
  hold: ReturnType<typeof useHold>["hold"],
  follow: { leave(): void; look(): void },
): (row: HTMLElement) => void {
  const frame = useRef(0);

  const watch = useCallback(
    (before: Before) => {
      cancelAnimationFrame(frame.current);
      // What was pressed is drawn by then, and the list has not measured it yet.
      frame.current = requestAnimationFrame(() => {
        if (!before.row.isConnected || before.row.offsetHeight === before.height) return;
        anchorTo("start");
        follow.leave();
        let top = 0;
        const find = () => {
          const place = before.places.find(({ element }) => element.isConnected);
          top = place?.top ?? 0;
          return place?.element ?? null;
        };
        const done = () => {
          anchorTo("end");
          follow.look();
        };
        hold(find, () => top, done);
      });
    },
    [anchorTo, hold, follow],
  );

  const keep = useCallback(
    (row: HTMLElement, pressed: HTMLElement = row) => {
      const edge = scroll.current?.getBoundingClientRect().top ?? 0;
      const placed = (element: HTMLElement) => ({ element, top: element.getBoundingClientRect().top - edge });
      watch({ row, height: row.offsetHeight, places: [placed(pressed), placed(row)] });
    },
    [scroll, watch],
  );

  useEffect(() => {
    const element = scroll.current;
    const press = (e: Event) => {
      const pressed = e.target instanceof Element ? e.target.closest<HTMLElement>("button, summary") : null;
      const row = pressed?.closest<HTMLElement>("[aria-posinset]");
      if (pressed && row) keep(row, pressed);
    };
    element?.addEventListener("click", press, { capture: true });
    return () => {
      element?.removeEventListener("click", press, { capture: true });
      cancelAnimationFrame(frame.current);
    };
  }, [scroll, keep]);
  return keep;
}
