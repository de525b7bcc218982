import { createContext, useCallback, useContext, useState, useSyncExternalStore } from "react";

/**
 * What is open and what is folded, by key (an item's id). It outlives the rows: one that scrolls out of the window and
 * back is as it was left.
 */
export class Folds {
  private open = new Map<string, boolean>();
  private listeners = new Map<string, Set<() => void>>();
  /** What each drawn fold shows, for toggling those that nobody has touched. */
  private drawn = new Map<string, boolean>();
  private leads = new Map<string, string>();

  get(key: string): boolean | undefined {
    return this.open.get(key);
  }

  set(key: string, open: boolean): void {
    if (this.open.get(key) === open) return;
    this.open.set(key, open);
    for (const listener of [...(this.listeners.get(key) ?? [])]) listener();
  }

  /** Says which step of a sub-agent's is to be drawn, by the id of its call: the earlier ones are left out else. */
  lead(key: string, step: string): void {
    if (this.leads.get(key) === step) return;
    this.leads.set(key, step);
    for (const listener of [...(this.listeners.get(key) ?? [])]) listener();
  }

  leadOf(key: string): string | undefined {
    return this.leads.get(key);
  }

  /** Turns a fold around; false if nothing that folds is drawn under this key. */
  toggle(key: string): boolean {
    const shown = this.drawn.get(key);
    if (shown === undefined) return false;
    this.set(key, !(this.open.get(key) ?? shown));
    return true;
  }

  draw(key: string, initial: boolean): void {
    this.drawn.set(key, initial);
  }

  subscribe(key: string, listener: () => void): () => void {
    const set = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, set);
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size > 0 || this.listeners.get(key) !== set) return;
      this.listeners.delete(key);
      this.drawn.delete(key);
    };
  }
}

export const FoldsContext = createContext<Folds | undefined>(undefined);

/**
 * A fold: whether it is open, and how to change that. `initial` holds until somebody has changed it, and may differ from
 * drawing to drawing (open while a tool runs). Outside of a conversation it is kept by the component itself.
 */
export function useFold(key: string, initial: boolean): [boolean, (open: boolean) => void] {
  const shared = useContext(FoldsContext);
  const [own] = useState(() => new Folds());
  const folds = shared ?? own;
  const subscribe = useCallback((listener: () => void) => folds.subscribe(key, listener), [folds, key]);
  const chosen = useSyncExternalStore(subscribe, () => folds.get(key));
  folds.draw(key, initial);
  return [chosen ?? initial, (open) => folds.set(key, open)];
}

/** The step of a sub-agent's that is to be drawn, if somebody looks for one. */
export function useLead(key: string): string | undefined {
  const folds = useContext(FoldsContext);
  const subscribe = useCallback((listener: () => void) => folds?.subscribe(key, listener) ?? (() => {}), [folds, key]);
  return useSyncExternalStore(subscribe, () => folds?.leadOf(key));
}
