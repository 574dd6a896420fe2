/** Part of a list. */
export interface Page {
  /** 1 to {@link MAX_PAGE}. */
  readonly limit: number;
  /** Entries of the list before the page. */
  readonly offset: number;
}

/** Entries of one page. */
const MAX_PAGE = 100;

/** @throws {RangeError} */
export function assertPage({ limit, offset }: Page): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new RangeError(`limit ${limit} is not an integer from 1 to ${MAX_PAGE}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError(`offset ${offset} is not an integer of 0 or more`);
}
