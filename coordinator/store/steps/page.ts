import type { Tx, Values } from "./tx.ts";

/** Part of a list. */
export interface Page {
  /** 1 to {@link MAX_PAGE}. */
  readonly limit: number;
  /** Entries of the list before the page. */
  readonly offset: number;
}

const MAX_PAGE = 100;

/** @throws {RangeError} */
export function assertPage({ limit, offset }: Page): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new RangeError(`limit ${limit} is not an integer from 1 to ${MAX_PAGE}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError(`offset ${offset} is not an integer of 0 or more`);
}

/** A list: the rows of `from` that are true for all of `where`, by `order`. */
interface List {
  /** A statement to which `WHERE` with the page's keys is added. */
  readonly select: string;
  readonly from: string;
  readonly key: string;
  /** False: it does not apply. */
  readonly where: readonly (string | false)[];
  readonly order: string;
}

/** A page of a list, as rows, and the number of all its rows. */
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
