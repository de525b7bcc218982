import { useCallback, useRef, useSyncExternalStore } from "react";

/** A value that changes, and those who want to know. The value is never changed in place: a new one is another object. */
export interface Readable<T> {
  get(): T;
  subscribe(listener: () => void): () => void;
}

/** A Readable that its owner sets. */
export class Cell<T> implements Readable<T> {
  private listeners = new Set<() => void>();
  private value: T;

  constructor(value: T) {
    this.value = value;
  }

  get = (): T => this.value;

  set = (value: T): void => {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** How many listen: for tests, and for owners that stop when nobody does. */
  get watched(): number {
    return this.listeners.size;
  }
}

/** Reads a Readable in a component, which is drawn again when it changes. */
export function useReadable<T>(readable: Readable<T>): T {
  return useSyncExternalStore(readable.subscribe, readable.get);
}

/** Reads a part of a Readable: the component is drawn again only when that part is another one. */
export function usePart<T, U>(readable: Readable<T>, pick: (value: T) => U, same: (a: U, b: U) => boolean = Object.is): U {
  const last = useRef<{ part: U } | undefined>(undefined);
  const get = useCallback((): U => {
    const part = pick(readable.get());
    if (last.current && same(last.current.part, part)) return last.current.part;
    last.current = { part };
    return part;
  }, [readable, pick, same]);
  return useSyncExternalStore(readable.subscribe, get);
}
