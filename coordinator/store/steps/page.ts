import type { Tx, Values } from "./tx.ts";

/** A page of a list. */
export interface Page {
  /** 1 to {@link MAX_PAGE}. */
  readonly limit: number;
  /** Number of list entries before the page. */
  readonly offset: number;
}

const MAX_PAGE = 100;

/** @throws {RangeError} */
export function assertPage({ limit, offset }: Page): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new RangeError(`limit must be an integer from 1 to ${MAX_PAGE}, got ${limit}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError(`offset must be an integer of 0 or more, got ${offset}`);
}

/** A list: the rows of `from` that satisfy all conditions of `where`, in the order of `order`. */
interface List {
  /** Statement to which `WHERE` with the page's keys is added. */
  readonly select: string;
  readonly from: string;
  readonly key: string;
  /** Conditions; false for one that does not apply. */
  readonly where: readonly (string | false)[];
  readonly order: string;
}

/** Reads a page of a list as rows, and counts all its rows. */
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
  const { total } = await tx.only<{ total: number }>(`SELECT count(*) AS total ${rows}`, values);
  return {
    rows: await tx.all<Row>(`${select} WHERE ${key} IN (${keys}) ORDER BY ${order}`, { ...values, ...page }),
    total,
  };
}
