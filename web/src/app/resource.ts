import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { reconnects } from "./connection.ts";
import { liveResets } from "./live.ts";
import { signIns } from "./session.ts";

/** A value that is read from the coordinator. While it is read again, the previous value stays. */
export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /** Replaces the value, for example with the response to a change. */
  readonly set: (value: T) => void;
}

/** Reads when the component appears, when `keys` change, and after a reconnect or a new sign-in. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<{ value: T | undefined; error: unknown; isLoading: boolean }>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [reads, setReads] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const shownKeys = useRef<string>("");
  const again = [reconnects.value, signIns.value, liveResets.value, reads];
  useEffect(() => {
    const abort = new AbortController();
    const isOther = shownKeys.current !== JSON.stringify(keys);
    shownKeys.current = JSON.stringify(keys);
    setState((last) => ({ ...last, value: isOther ? undefined : last.value, isLoading: true }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((last) => ({ value: last.value, error, isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [...keys, ...again]);
  const reload = useCallback(() => setReads((count) => count + 1), []);
  const set = useCallback((value: T) => setState({ value, error: undefined, isLoading: false }), []);
  return { ...state, reload, set };
}
