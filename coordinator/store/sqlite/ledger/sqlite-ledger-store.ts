import type Database from "better-sqlite3";
import type { LedgerLine } from "../../../credits/account-lines.ts";
import type { Posting } from "../../../credits/postings.ts";
import type { LedgerReport, LedgerStore } from "../../ledger-store.ts";
import { assertPage, type Page } from "../../page.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";
import { prepareVerify } from "./verify-ledger.ts";

export class SqliteLedgerStore implements LedgerStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #reader: Pick<Reader, "run">;
  readonly #verify: () => LedgerReport;

  constructor(db: Database.Database, reader: Pick<Reader, "run">, writer: Pick<Writer, "run">) {
    this.#reader = reader;
    this.#writer = writer;
    this.#verify = prepareVerify(db);
  }

  post(postings: readonly Posting[], atMs: number): Promise<void> {
    return this.#writer.run("post", { postings, atMs });
  }

  async list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }> {
    assertPage(page);
    return this.#reader.run("ledger", { accountId, page });
  }

  async verify(): Promise<LedgerReport> {
    return this.#verify();
  }
}
