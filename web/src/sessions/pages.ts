import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";

/** A list that comes page by page. */
export interface Pages<T> {
  items: readonly T[];
  /** Whether there is a further page. */
  more: boolean;
  loading: boolean;
  error?: ApiError;
  next(): void;
  /** Reads it anew from the beginning. */
  again(): void;
}

export interface Page<T> {
  items: readonly T[];
  next?: string;
}

interface State<T> {
  items: readonly T[];
  cursor?: string;
  begun: boolean;
  loading: boolean;
  error?: ApiError;
}

/**
 * Reads a list page by page, the first one at once. Another `read` is another list: it begins anew, and what still comes of the old one is
 * not taken; what came of it before is shown until then. Without `read` nothing is asked and the list is empty.
 */
export function usePages<T>(read: ((cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>) | undefined): Pages<T> {
  const [state, setState] = useState<State<T>>({ items: [], begun: false, loading: read !== undefined });
  const abort = useRef<AbortController | undefined>(undefined);

  const load = useCallback(
    (cursor: string | undefined, fresh: boolean) => {
      abort.current?.abort();
      if (!read) {
        setState({ items: [], begun: false, loading: false });
        return;
      }
      const control = new AbortController();
      abort.current = control;
      // What was there stays until the first page of the new list is, so that nothing flickers while somebody types.
      setState((old) => ({
        ...old,
        begun: old.begun && !fresh,
        cursor: fresh ? undefined : old.cursor,
        loading: true,
        error: undefined,
      }));
      read(cursor, control.signal).then(
        (page) => {
          if (control.signal.aborted) return;
          setState((old) => ({
            items: fresh ? page.items : [...old.items, ...page.items],
            cursor: page.next,
            begun: true,
            loading: false,
          }));
        },
        (e: unknown) => {
          if (control.signal.aborted) return;
          setState((old) => ({ ...old, items: fresh ? [] : old.items, loading: false, error: asApiError(e) }));
        },
      );
    },
    [read],
  );

  useEffect(() => {
    load(undefined, true);
    return () => abort.current?.abort();
  }, [load]);

  const { begun, cursor } = state;
  const next = useCallback(() => load(cursor, !begun), [load, cursor, begun]);
  const again = useCallback(() => load(undefined, true), [load]);
  return {
    items: state.items,
    more: begun && cursor !== undefined && cursor !== "",
    loading: state.loading,
    error: state.error,
    next,
    again,
  };
}
