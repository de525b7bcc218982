import { createContext, type MouseEvent, type RefObject, type SyntheticEvent, useContext, useLayoutEffect, useRef } from "react";

/** For how long a question takes no answer after it came up, or after others have moved, in milliseconds. */
export const guardTime = 400;

/** The same, after a question has come to mean something else. */
export const changedTime = 600;

/**
 * A Guard keeps answers away for a moment: what is pressed right after a question came up, or took the place of another, was meant for
 * something else.
 */
export class Guard {
  private until = 0;
  private readonly held = new Set<() => void>();

  /** Takes no answer for so long. */
  hold(ms: number, now = performance.now()): void {
    this.until = Math.max(this.until, now + ms);
    for (const tell of this.held) tell();
  }

  /** For how long it still takes no answer. */
  left(now = performance.now()): number {
    return Math.max(0, this.until - now);
  }

  /** Tells whenever it holds anew, until the returned function is called. */
  onHold(tell: () => void): () => void {
    this.held.add(tell);
    return () => this.held.delete(tell);
  }

  /** Whether an answer counts now. */
  takes(now = performance.now()): boolean {
    return now >= this.until;
  }

  /** Whether a key counts now. One that does not begins the time anew: whoever is typing goes on typing. */
  takesKey(now = performance.now()): boolean {
    if (this.takes(now)) return true;
    this.hold(guardTime, now);
    return false;
  }
}

/** The guards of a list of questions. */
export interface ListGuards {
  /** Holds while questions come, go or change places: none of them takes an answer. */
  readonly order: Guard;
  /** Holds while something moves on the screen: no button is pressed. */
  readonly place: Guard;
}

export const ListGuard = createContext<ListGuards | undefined>(undefined);

/** The guards of a list, of which that of the order holds whenever the list looks another way. */
export function useListGuard(looks: string): ListGuards {
  const guards = useRef<ListGuards>(undefined);
  guards.current ??= { order: new Guard(), place: new Guard() };
  // Before the browser draws it: there is no moment in which it can be pressed and is not guarded.
  // biome-ignore lint/correctness/useExhaustiveDependencies: how it looks is what the guard follows
  useLayoutEffect(() => {
    guards.current?.order.hold(guardTime);
  }, [looks]);
  return guards.current;
}

/** The guards of one question: its own, and those of the list that it is in. */
export class Guards {
  readonly own = new Guard();
  list: ListGuards | undefined;

  takes(): boolean {
    return this.own.takes() && (this.list?.order.takes() ?? true);
  }

  takesKey(): boolean {
    const own = this.own.takesKey();
    return (this.list?.order.takesKey() ?? true) && own;
  }
}

export function useGuards(): Guards {
  const guards = useRef<Guards>(undefined);
  guards.current ??= new Guards();
  guards.current.list = useContext(ListGuard);
  return guards.current;
}

/** Marks a card as guarded while any of its guards holds: it then looks as if it did not listen yet. */
export function useGuardMark(card: RefObject<HTMLElement | null>, guards: Guards): void {
  const { list } = guards;
  useLayoutEffect(() => {
    const all = list ? [guards.own, list.order, list.place] : [guards.own];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const mark = () => {
      clearTimeout(timer);
      const left = Math.max(...all.map((guard) => guard.left()));
      card.current?.toggleAttribute("data-guarded", left > 0);
      if (left > 0) timer = setTimeout(mark, left);
    };
    const stops = all.map((guard) => guard.onHold(mark));
    mark();
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [card, guards, list]);
}

/** For how long nothing is pressed after something has moved, in milliseconds. */
export const moveTime = 250;

/** The event with which a press that was kept away tells its card so: a button that does nothing seems to be broken. */
export const missedPress = "switchboard-missed-press";

/**
 * Keeps presses away from buttons that have just moved: a preview that is drawn late, or a step that another one replaces, puts a button
 * where there was something else. The returned props are for the element whose height tells of it.
 */
export function useMoveGuard<T extends HTMLElement>(
  guard: Guard,
): {
  ref: RefObject<T | null>;
  onPointerDownCapture: (e: SyntheticEvent) => void;
  onClickCapture: (e: MouseEvent) => void;
} {
  const ref = useRef<T>(null);
  const missed = useRef(false);
  const present = useRef<T>(undefined);
  const watch = useRef<ResizeObserver>(undefined);
  useLayoutEffect(() => {
    if (ref.current === (present.current ?? null)) return;
    watch.current?.disconnect();
    present.current = ref.current ?? undefined;
    if (!ref.current || typeof ResizeObserver === "undefined") return;
    watch.current = new ResizeObserver(() => guard.hold(moveTime));
    watch.current.observe(ref.current);
  });
  useLayoutEffect(() => () => watch.current?.disconnect(), []);
  const stop = (e: SyntheticEvent) => {
    e.preventDefault();
    e.stopPropagation();
  };
  return {
    ref,
    onPointerDownCapture: (e) => {
      missed.current = !guard.takes() && isButton(e.target);
      if (!missed.current) return;
      stop(e);
      e.target.dispatchEvent(new CustomEvent(missedPress, { bubbles: true }));
    },
    onClickCapture: (e) => {
      // One without a pointer (detail 0) comes from the keyboard or from a screen reader, and hits what it means.
      if (missed.current && e.detail > 0) stop(e);
      missed.current = false;
    },
  };
}

function isButton(target: EventTarget): boolean {
  return target instanceof Element && target.closest("button") !== null;
}
