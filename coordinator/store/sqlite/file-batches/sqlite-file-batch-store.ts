import type Database from "better-sqlite3";
import { FILE_BATCH_COLUMNS, fileBatchOf, type FileBatchRow } from "../../file-batch-rows.ts";
import type {
  FileBatch,
  FileBatchLease,
  FileBatchProgress,
  FileBatchStore,
  NewFileBatch,
} from "../../file-batch-store.ts";
import type { Writer } from "../engine/writer.ts";

interface PageArgs {
  readonly accountId: string;
  readonly afterId: string | null;
  readonly limit: number;
}

export class SqliteFileBatchStore implements FileBatchStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #select: Database.Statement<[{ accountId: string; id: string }], FileBatchRow>;
  readonly #selectFree: Database.Statement<[number]>;
  readonly #selectPage: Database.Statement<[PageArgs], FileBatchRow>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    const select = `SELECT ${FILE_BATCH_COLUMNS} FROM file_batches WHERE account_id = @accountId`;
    this.#select = db.prepare(`${select} AND id = @id`);
    this.#selectFree = db.prepare(
      "SELECT 1 FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= ? LIMIT 1",
    );
    this.#selectPage = db.prepare(`${select} AND (@afterId IS NULL OR id < @afterId) ORDER BY id DESC LIMIT @limit`);
  }

  add(batch: NewFileBatch, maxOpen: number): Promise<boolean> {
    return this.#writer.run("addFileBatch", { batch, maxOpen });
  }

  async get(accountId: string, id: string): Promise<FileBatch | undefined> {
    const row = this.#select.get({ accountId, id });
    return row && fileBatchOf(row);
  }

  async list(accountId: string, page: Omit<PageArgs, "accountId">): Promise<FileBatch[]> {
    return this.#selectPage.all({ accountId, ...page }).map(fileBatchOf);
  }

  cancel(accountId: string, id: string, atMs: number): Promise<boolean> {
    return this.#writer.run("cancelFileBatch", { accountId, id, atMs });
  }

  async lease(by: Omit<FileBatchLease, "id">, nowMs: number, limit: number): Promise<FileBatch[]> {
    // Mostly there is none: then nothing is written.
    if (this.#selectFree.get(nowMs) === undefined) return [];
    return (await this.#writer.run("leaseFileBatches", { ...by, nowMs, limit })).map(fileBatchOf);
  }

  save(lease: FileBatchLease, progress: FileBatchProgress): Promise<{ cancellingAtMs: number | null } | undefined> {
    return this.#writer.run("saveFileBatch", { ...lease, progress: JSON.stringify(progress) });
  }

  end(lease: Omit<FileBatchLease, "untilMs">, progress: FileBatchProgress, atMs: number): Promise<boolean> {
    return this.#writer.run("endFileBatch", { ...lease, progress: JSON.stringify(progress), atMs });
  }

  release(ownerId: string): Promise<void> {
    return this.#writer.run("releaseFileBatches", { ownerId });
  }

  removeOfAccount(accountId: string): Promise<void> {
    return this.#writer.run("removeFileBatchesOfAccount", { accountId });
  }
}
