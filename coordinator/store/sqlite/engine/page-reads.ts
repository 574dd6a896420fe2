import type Database from "better-sqlite3";
import type { LedgerLine } from "../../../credits/account-lines.ts";
import type { Page } from "../../page.ts";
import { LedgerLines } from "../ledger/ledger-lines.ts";

/** Reads whose cost grows with the account's data: with the page's offset and with the number of entries to count. */
export interface PageReads {
  ledger(args: { accountId: string; page: Page }): { lines: LedgerLine[]; total: number };
}

export type PageReadKind = keyof PageReads;
export type PageReadArgs<K extends PageReadKind> = Parameters<PageReads[K]>[0];
export type PageReadResult<K extends PageReadKind> = ReturnType<PageReads[K]>;
/** A read in the form in which it is sent to the reader's thread. */
export type PageRead = { [K in PageReadKind]: readonly [kind: K, args: PageReadArgs<K>] }[PageReadKind];

export function pageReads(db: Database.Database): PageReads {
  const ledger = new LedgerLines(db);
  return {
    ledger: ({ accountId, page }) => ledger.read(accountId, page),
  };
}
