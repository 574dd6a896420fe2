import type { Page } from "../../page.ts";

const MAX_PAGE = 100;

/** @throws {RangeError} */
export function assertPage({ limit, offset }: Page): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) throw new RangeError(`limit ${limit} is not 1..100`);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new RangeError(`offset ${offset} is negative`);
}
