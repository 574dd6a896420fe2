import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PagedList } from "../app/paged-list.ts";
import { messageOf } from "./error-message.ts";
import { ErrorState, LoadingState } from "./states.tsx";

export interface Column<T> {
  readonly label: string;
  /** Track of the CSS grid, such as "8rem" or "minmax(10rem, 1fr)". */
  readonly width: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Whether the column is hidden on a narrow screen. */
  readonly isExtra?: boolean;
  /** Second line of the cell on a narrow screen, for the content of hidden columns. */
  readonly under?: (row: T) => ComponentChildren;
}

/** Height of all rows. Equal heights permit rendering only the visible rows. */
const ROW_PX = 38;
const TALL_ROW_PX = 58;
/** Width of a narrow screen, as in `data.css`. */
const NARROW = matchMedia("(max-width: 48rem)");
/** Rows rendered above and below the visible ones. */
const OVERSCAN_ROWS = 12;
/** Maximum number of rows shown. Browsers cannot show elements of many millions of pixels. */
const MAX_ROWS = 200_000;

/** A table of any length. Only visible rows are rendered, and only visible pages are read. */
export function VirtualTable<T>({
  list,
  columns,
  keyOf,
  label,
  what,
  empty,
}: {
  readonly list: PagedList<T>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly label: string;
  /** Name of the rows for "Loading …", such as "the jobs". */
  readonly what: string;
  readonly empty: ComponentChildren;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ first: 0, last: 40 });
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const change = (): void => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", change);
    return () => NARROW.removeEventListener("change", change);
  }, []);
  const isTall = isNarrow && columns.some(({ under }) => under !== undefined);
  const rowPx = isTall ? TALL_ROW_PX : ROW_PX;
  const count = Math.min(list.total ?? 0, MAX_ROWS);
  const isShown = list.total !== undefined && list.total > 0;
  const look = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - OVERSCAN_ROWS);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / rowPx) + OVERSCAN_ROWS;
    setSight((old) => (old.first === first && old.last === last ? old : { first, last }));
  };
  useLayoutEffect(look, [isShown, count, rowPx]);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, [rowPx]);
  const { show } = list;
  useEffect(() => show(sight.first, sight.last), [sight, count]);

  if (list.total === undefined) {
    return list.error === undefined || list.isLoading ? (
      <LoadingState what={what} />
    ) : (
      <ErrorState error={list.error} retry={list.reload} />
    );
  }
  if (!isShown) return <>{empty}</>;
  const last = Math.min(sight.last, count);
  const tracks = {
    "--columns": columns.map(({ width }) => width).join(" "),
    "--few-columns": columns
      .filter(({ isExtra }) => isExtra !== true)
      .map(({ width }) => width)
      .join(" "),
  };
  return (
    <>
      {list.error !== undefined && (
        <div class="banner warning" role="alert">
          {messageOf(list.error)}
        </div>
      )}
      <div class="table" role="table" aria-label={label} aria-rowcount={count + 1} style={tracks}>
        <div class="table-head" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div key={column.label} role="columnheader" class={classOf(column)}>
              {column.label}
            </div>
          ))}
        </div>
        <div
          class="table-scroll"
          role="rowgroup"
          tabIndex={0}
          aria-label={`${label}, rows`}
          ref={scroller}
          onScroll={look}
          style={{ height: `${count * rowPx}px` }}
        >
          <div role="presentation" class="table-height" style={{ height: `${count * rowPx}px` }}>
            {list.rows.slice(sight.first, last).map((row, position) => {
              const index = sight.first + position;
              return (
                <div
                  key={row === undefined ? `at ${index}` : keyOf(row)}
                  class="table-row"
                  role="row"
                  aria-rowindex={index + 2}
                  style={{ height: `${rowPx}px`, transform: `translateY(${index * rowPx}px)` }}
                >
                  {columns.map((column) => (
                    <div key={column.label} role="cell" class={classOf(column)}>
                      {row === undefined ? <span class="placeholder" /> : column.cell(row)}
                      {row !== undefined && isTall && column.under !== undefined && (
                        <div class="under">{column.under(row)}</div>
                      )}
                    </div>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      <p class="table-count muted" role="status">
        <span class="num">{list.total.toLocaleString("en")}</span> {list.total === 1 ? "row" : "rows"}
      </p>
    </>
  );
}

function classOf<T>({ isNumber, isExtra }: Column<T>): string {
  return ["cell", ...(isNumber === true ? ["number"] : []), ...(isExtra === true ? ["extra"] : [])].join(" ");
}
