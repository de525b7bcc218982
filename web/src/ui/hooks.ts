import { useEffect, useState, useSyncExternalStore } from "react";

/** Whether a media query holds. */
function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
    () => false,
  );
}

/** The one width at which the layout changes: below it there is one pane. */
const wideQuery = "(min-width: 1000px)";

/** Whether there is room for several panes. */
export function useWide(): boolean {
  return useMedia(wideQuery);
}

/** Whether fingers, not a mouse, are what presses. */
export function useCoarse(): boolean {
  return useMedia("(pointer: coarse)");
}

const clocks = new Map<number, { listeners: Set<() => void>; timer: ReturnType<typeof setInterval> }>();

function watchClock(every: number, listener: () => void): () => void {
  let clock = clocks.get(every);
  if (!clock) {
    const listeners = new Set<() => void>();
    const tick = () => {
      for (const told of [...listeners]) told();
    };
    clock = { listeners, timer: setInterval(tick, every) };
    clocks.set(every, clock);
  }
  const { listeners, timer } = clock;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      clocks.delete(every);
    }
  };
}

/** The time, anew every so many milliseconds. All components with the same interval share one timer. */
export function useNow(every: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    return watchClock(every, () => setNow(Date.now()));
  }, [every]);
  return now;
}
