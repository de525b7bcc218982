import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";

export interface Loaded<T> {
  /** What was read last. It stays while it is read again. */
  readonly value?: T;
  readonly error?: ApiError;
  readonly loading: boolean;
  /** Reads it again. Resolves to whether that went well. */
  again(): Promise<boolean>;
}

/**
 * Reads something when the component comes up and whenever `read` is another function (wrap it in useCallback). What an earlier reading
 * brings after a later one has begun is nothing.
 */
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: ApiError; loading: boolean }>({ loading: true });
  const running = useRef<AbortController>(undefined);

  const again = useCallback(() => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setState((s) => ({ ...s, loading: true }));
    return read(mine.signal).then(
      (value) => {
        if (!mine.signal.aborted) setState({ value, loading: false });
        return !mine.signal.aborted;
      },
      (thrown: unknown) => {
        if (!mine.signal.aborted) setState((s) => ({ value: s.value, error: asApiError(thrown), loading: false }));
        return false;
      },
    );
  }, [read]);

  useEffect(() => {
    void again();
    return () => running.current?.abort();
  }, [again]);

  return { ...state, again };
}

/** Runs something a while after a value has changed, not at first, and not more often than that. */
export function useAfterChange(value: unknown, milliseconds: number, run: () => void): void {
  const before = useRef(value);
  const latest = useRef(run);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  latest.current = run;
  useEffect(() => {
    if (Object.is(before.current, value)) return;
    before.current = value;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, milliseconds);
  }, [value, milliseconds]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}
