import { countRows, type Tx, type Values } from "./tx.ts";

export interface Page {
  /** Maximum number of entries on the page, 1 to {@link MAX_PAGE}. */
  readonly limit: number;
  /** Number of entries before the page. */
  readonly offset: number;
}

const MAX_PAGE = 100;

/** Checks `limit` and `offset`. @throws {RangeError} */
export function assertPage({ limit, offset }: Page): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new RangeError(`limit must be an integer from 1 to ${MAX_PAGE}, got ${limit}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError(`offset must be an integer of 0 or more, got ${offset}`);
}

interface List {
  /** SELECT and FROM of the rows; `readList` adds a `WHERE` with the keys of the page. */
  readonly select: string;
  readonly from: string;
  readonly key: string;
  /** Conditions joined by AND; false for a condition that does not apply. */
  readonly where: readonly (string | false)[];
  readonly order: string;
}

/** Reads a page of a list. `total`: number of rows on all pages. */
export async function readList<Row>(
  tx: Tx,
  { select, from, key, where, order }: List,
  values: Values,
  page: Page,
): Promise<{ rows: Row[]; total: number }> {
  assertPage(page);
  const terms = where.filter((term) => term !== false);
  const rows = `FROM ${from} ${terms.length === 0 ? "" : `WHERE ${terms.join(" AND ")}`}`;
  const keys = `SELECT ${key} ${rows} ORDER BY ${order} LIMIT @limit OFFSET @offset`;
  const total = await countRows(tx, rows, values);
  return {
    rows: await tx.all<Row>(`${select} WHERE ${key} IN (${keys}) ORDER BY ${order}`, { ...values, ...page }),
    total,
  };
}
