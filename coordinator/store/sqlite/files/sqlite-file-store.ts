import type Database from "better-sqlite3";
import type {
  FileBudget,
  FileHold,
  FileList,
  FileRecord,
  FileStore,
  FileUsage,
  RemovedFiles,
} from "../../file-store.ts";
import type { Writer } from "../engine/writer.ts";
import { FILE_USAGE, IS_NEEDED } from "./file-operations.ts";

const COLUMNS = `files.id, files.account_id AS accountId, purpose, filename, files.size_bytes AS sizeBytes, sha256, blob,
  files.created_at_ms AS createdAtMs, expires_at_ms AS expiresAtMs`;
const SELECT = `SELECT ${COLUMNS} FROM files JOIN file_blobs ON name = blob
  WHERE account_id = @accountId AND (expires_at_ms IS NULL OR expires_at_ms > @nowMs)`;
const SELECT_HELD = `SELECT ${COLUMNS} FROM files JOIN file_blobs ON name = blob
  JOIN file_holds h ON file_id = files.id WHERE files.id = @fileId AND job_id = @jobId AND ${IS_NEEDED}`;

interface ListArgs extends Omit<FileList, "isNewestFirst"> {
  readonly accountId: string;
}

export class SqliteFileStore implements FileStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #select: Database.Statement<[{ accountId: string; id: string; nowMs: number }], FileRecord>;
  readonly #selectHeld: Database.Statement<[FileHold], FileRecord>;
  readonly #selectNewest: Database.Statement<[ListArgs], FileRecord>;
  readonly #selectOldest: Database.Statement<[ListArgs], FileRecord>;
  readonly #selectUsage: Database.Statement<[string], FileUsage>;
  readonly #selectTotal: Database.Statement<[], FileUsage>;
  readonly #hasBlob: Database.Statement<[string], number>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    this.#select = db.prepare(`${SELECT} AND id = @id`);
    this.#selectHeld = db.prepare(SELECT_HELD);
    const page = (after: string, order: string): string =>
      `${SELECT} AND (@afterId IS NULL OR id ${after} @afterId) AND (@purpose IS NULL OR purpose = @purpose)
       ORDER BY id ${order} LIMIT @limit`;
    this.#selectNewest = db.prepare(page("<", "DESC"));
    this.#selectOldest = db.prepare(page(">", "ASC"));
    this.#selectUsage = db.prepare(FILE_USAGE);
    this.#selectTotal = db.prepare(
      "SELECT (SELECT count(*) FROM files) AS files, (SELECT coalesce(sum(size_bytes), 0) FROM file_blobs) AS bytes",
    );
    this.#hasBlob = db.prepare<[string], number>("SELECT 1 FROM file_blobs WHERE name = ?").pluck();
  }

  async add(file: FileRecord, budget: FileBudget): Promise<FileRecord> {
    return { ...file, blob: await this.#writer.run("addFile", { file, budget }) };
  }

  async get(accountId: string, id: string, nowMs: number): Promise<FileRecord | undefined> {
    return this.#select.get({ accountId, id, nowMs });
  }

  async list(accountId: string, { isNewestFirst, ...list }: FileList): Promise<FileRecord[]> {
    return (isNewestFirst ? this.#selectNewest : this.#selectOldest).all({ accountId, ...list });
  }

  async usage(accountId: string): Promise<FileUsage> {
    return this.#selectUsage.get(accountId) ?? { files: 0, bytes: 0 };
  }

  async total(): Promise<FileUsage> {
    return this.#selectTotal.get() ?? { files: 0, bytes: 0 };
  }

  hold(accountId: string, holds: readonly FileHold[], nowMs: number): Promise<string[]> {
    return this.#writer.run("holdFiles", { accountId, holds, nowMs });
  }

  unhold(holds: readonly FileHold[]): Promise<void> {
    return this.#writer.run("unholdFiles", { holds });
  }

  async held(hold: FileHold): Promise<FileRecord | undefined> {
    return this.#selectHeld.get(hold);
  }

  removeOldHolds(nowMs: number, limit: number): Promise<number> {
    return this.#writer.run("removeOldHolds", { nowMs, limit });
  }

  remove(accountId: string, id: string, nowMs: number): Promise<RemovedFiles> {
    return this.#writer.run("removeFile", { accountId, id, nowMs });
  }

  removeExpired(nowMs: number, limit: number): Promise<RemovedFiles> {
    return this.#writer.run("removeExpiredFiles", { nowMs, limit });
  }

  removeOfAccount(accountId: string, limit: number): Promise<RemovedFiles> {
    return this.#writer.run("removeFilesOfAccount", { accountId, limit });
  }

  async withoutFile(blobs: readonly string[]): Promise<string[]> {
    return blobs.filter((name) => this.#hasBlob.get(name) === undefined);
  }
}
