import type Database from "better-sqlite3";
import type { FileRecord } from "../../file-store.ts";
import type {
  Completion,
  PartLimits,
  RemovedUpload,
  UploadPart,
  UploadRecord,
  UploadStore,
} from "../../upload-store.ts";
import type { Writer } from "../engine/writer.ts";
import { SELECT_PARTS, SELECT_UPLOAD } from "./upload-operations.ts";

export class SqliteUploadStore implements UploadStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #select: Database.Statement<[string, string], UploadRecord>;
  readonly #selectParts: Database.Statement<[string], UploadPart>;
  readonly #isPending: Database.Statement<[string], number>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    this.#select = db.prepare(`${SELECT_UPLOAD} AND account_id = ?`);
    this.#selectParts = db.prepare(`${SELECT_PARTS} ORDER BY id`);
    this.#isPending = db.prepare<[string], number>("SELECT 1 FROM uploads WHERE id = ? AND state = 'pending'").pluck();
  }

  add(upload: UploadRecord, maxPending: number): Promise<void> {
    return this.#writer.run("addUpload", { upload, maxPending });
  }

  async get(accountId: string, id: string): Promise<UploadRecord | undefined> {
    return this.#select.get(id, accountId);
  }

  async parts(uploadId: string): Promise<UploadPart[]> {
    return this.#selectParts.all(uploadId);
  }

  addPart(part: UploadPart, limits: PartLimits): Promise<UploadPart> {
    return this.#writer.run("addUploadPart", { part, limits });
  }

  async complete(completion: Completion, nowMs: number): Promise<FileRecord> {
    const blob = await this.#writer.run("completeUpload", { completion, nowMs });
    return { ...completion.file, blob };
  }

  cancel(accountId: string, id: string): Promise<boolean> {
    return this.#writer.run("cancelUpload", { accountId, id });
  }

  removeExpired(nowMs: number, limit: number): Promise<RemovedUpload[]> {
    return this.#writer.run("removeExpiredUploads", { nowMs, limit });
  }

  removeOfAccount(accountId: string, limit: number): Promise<RemovedUpload[]> {
    return this.#writer.run("removeUploadsOfAccount", { accountId, limit });
  }

  async withoutParts(ids: readonly string[]): Promise<string[]> {
    return ids.filter((id) => this.#isPending.get(id) === undefined);
  }
}
