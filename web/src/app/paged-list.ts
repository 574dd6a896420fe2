import type { Page } from "@atoll/client";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { reconnects } from "./connection.ts";
import { liveResets } from "./live.ts";
import { signIns } from "./session.ts";

export const PAGE_SIZE = 100;
/** Delay after scrolling before pages are read, so that scrolling far reads only the pages at its end. */
const SETTLE_MS = 80;

export interface PagedList<T> {
  /** Rows by position; undefined where a row is not read yet. */
  readonly rows: readonly (T | undefined)[];
  /** Number of rows; undefined until the first page is read. */
  readonly total: number | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Reads the rows from `first` to `last`, unless they are read already. */
  readonly show: (first: number, last: number) => void;
  readonly reload: () => void;
  /** Replaces the row with the same id, or inserts the row at the top. */
  readonly put: (row: T) => void;
  /** Removes the row with this id. */
  readonly drop: (id: string | number) => void;
}

interface State<T> {
  readonly rows: (T | undefined)[];
  readonly total: number | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}
const EMPTY = { rows: [], total: undefined, error: undefined, isLoading: true };

/** Reads only the shown pages of a long list. Reads them again when `keys` change, and after a reconnect. */
export function usePagedList<T>(
  load: (offset: number, signal: AbortSignal) => Promise<Page<T>>,
  idOf: (row: T) => string | number,
  keys: readonly unknown[],
): PagedList<T> {
  const [state, setState] = useState<State<T>>(EMPTY);
  const [reads, setReads] = useState(0);
  const latest = useRef({ load, idOf, state });
  latest.current = { load, idOf, state };
  const run = useRef({
    abort: new AbortController(),
    requested: new Set<number>(),
    timer: 0,
    shown: [0, 0] as [number, number],
  });

  const readPage = useCallback(async (page: number): Promise<void> => {
    const { abort, requested } = run.current;
    if (requested.has(page)) return;
    requested.add(page);
    try {
      const { data, meta } = await latest.current.load(page * PAGE_SIZE, abort.signal);
      if (!abort.signal.aborted) setState((last) => withPage(last, page * PAGE_SIZE, data, meta.total));
    } catch (error) {
      requested.delete(page);
      if (!abort.signal.aborted) setState((last) => ({ ...last, error, isLoading: false }));
    }
  }, []);

  useEffect(() => {
    run.current.abort.abort();
    run.current = { ...run.current, abort: new AbortController(), requested: new Set() };
    setState((last) => ({ ...last, isLoading: true }));
    const [first, last] = run.current.shown;
    for (const page of new Set([0, pageOf(first), pageOf(last)])) void readPage(page);
  }, [...keys, reconnects.value, signIns.value, liveResets.value, reads]);
  useEffect(() => () => run.current.abort.abort(), []);

  const show = useCallback((first: number, last: number) => {
    run.current.shown = [first, last];
    clearTimeout(run.current.timer);
    run.current.timer = window.setTimeout(() => {
      const { rows, total = 0 } = latest.current.state;
      for (let page = pageOf(first); page <= pageOf(Math.min(last, total - 1)); page += 1) {
        if (
          rows.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).includes(undefined) ||
          rows.length <= page * PAGE_SIZE
        ) {
          void readPage(page);
        }
      }
    }, SETTLE_MS);
  }, []);
  const reload = useCallback(() => setReads((count) => count + 1), []);
  const put = useCallback((row: T) => setState((last) => withRow(last, row, latest.current.idOf)), []);
  const drop = useCallback((id: string | number) => setState((last) => withoutRow(last, id, latest.current.idOf)), []);
  return { ...state, show, reload, put, drop };
}

const pageOf = (index: number): number => Math.max(0, Math.floor(index / PAGE_SIZE));

function withPage<T>(last: State<T>, offset: number, data: readonly T[], total: number): State<T> {
  const rows = last.rows.slice(0, total);
  // Fill with undefined instead of holes, which `includes` and `map` treat differently.
  while (rows.length < total) rows.push(undefined);
  for (const [index, row] of data.entries()) if (offset + index < total) rows[offset + index] = row;
  return { rows, total, error: undefined, isLoading: false };
}

function withRow<T>(last: State<T>, row: T, idOf: (row: T) => string | number): State<T> {
  const index = last.rows.findIndex((each) => each !== undefined && idOf(each) === idOf(row));
  if (index >= 0) return { ...last, rows: last.rows.with(index, row) };
  return { ...last, rows: [row, ...last.rows], total: (last.total ?? 0) + 1 };
}

function withoutRow<T>(last: State<T>, id: string | number, idOf: (row: T) => string | number): State<T> {
  const rows = last.rows.filter((each) => each === undefined || idOf(each) !== id);
  return { ...last, rows, total: (last.total ?? 0) - (last.rows.length - rows.length) };
}
