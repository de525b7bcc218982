import { useCallback, useEffect, useRef, useState } from "react";
import { asError } from "../api/error";

/** Something that a person has asked for and that takes a while. */
export interface Act {
  readonly pending: boolean;
  /** Why the last try failed. */
  readonly error: Error | undefined;
  /** Does it. What it gives is undefined if it failed, or if another try is still going on. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
  clear(): void;
}

/** Keeps track of one thing that is asked for: whether it is going on, and why it failed. */
export function useAct(): Act {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<Error>();
  const busy = useRef(false);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const run = useCallback(async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (busy.current) return undefined;
    busy.current = true;
    setPending(true);
    setError(undefined);
    try {
      return await work();
    } catch (e) {
      if (here.current) setError(asError(e));
      return undefined;
    } finally {
      busy.current = false;
      if (here.current) setPending(false);
    }
  }, []);
  const clear = useCallback(() => setError(undefined), []);
  return { pending, error, run, clear };
}
