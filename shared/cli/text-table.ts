import measure from "fast-string-truncated-width";
import { plain } from "./plain-text.ts";

/** Column with its heading. A flexible column is cut to fit the terminal. */
export interface Column {
  readonly name: string;
  readonly isFlexible: boolean;
}

type Rows = readonly (readonly string[])[];

/** Minimum width of flexible columns, unless their widest cell is narrower. */
const MIN_WIDTH = 8;
const GAP = "  ";

export const fixed = (name: string): Column => ({ name, isFlexible: false });
export const flexible = (name: string): Column => ({ name, isFlexible: true });

/** Aligns cells in columns, without a heading. */
export function alignRows(rows: Rows): string {
  const shown = rows.map((row) => row.map(plain));
  return layOut(shown, widthsOf(shown));
}

/**
 * Formats rows below a heading. Columns without any text are omitted.
 * @param width width of the terminal; Infinity to cut nothing
 * @param total number of all rows, if not all are given
 */
export function tableOf(
  columns: readonly Column[],
  rows: Rows,
  { width = Number.POSITIVE_INFINITY, total = rows.length }: { readonly width?: number; readonly total?: number } = {},
): string {
  const used = columns.flatMap((column, index) => (rows.some((row) => row[index]) ? [{ column, index }] : []));
  const shown = [
    used.map(({ column }) => column.name),
    ...rows.map((row) => used.map(({ index }) => plain(row[index] ?? ""))),
  ];
  const widths = fit(
    widthsOf(shown),
    used.map(({ column }) => column.isFlexible),
    width,
  );
  const text = layOut(shown, widths);
  return total > rows.length ? `${text}\n… ${total} in all` : text;
}

function widthsOf(rows: Rows): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => measure(row[column] ?? "").width)));
}

/** Reduces the widest flexible column until a line fits or no column can shrink. */
function fit(widths: readonly number[], isFlexible: readonly boolean[], width: number): number[] {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, each) => sum + each, (fitted.length - 1) * GAP.length) - width;
  while (excess > 0) {
    const widest = Math.max(...fitted.map((each, index) => (isFlexible[index] === true ? each : 0)));
    if (widest <= MIN_WIDTH) break;
    fitted[fitted.findIndex((each, index) => isFlexible[index] === true && each === widest)] = widest - 1;
    excess -= 1;
  }
  return fitted;
}

function layOut(rows: Rows, widths: readonly number[]): string {
  return rows
    .map((row) =>
      row
        .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** Returns a cell of exactly this width in the terminal, cut if it is wider. */
function padToWidth(text: string, width: number): string {
  const { index, ellipsed, width: taken } = measure(text, { limit: width, ellipsis: "…" });
  return ellipsed ? padToWidth(`${text.slice(0, index)}…`, width) : text + " ".repeat(width - taken);
}
