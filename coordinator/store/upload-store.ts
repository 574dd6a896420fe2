import type { FileBudget, FilePurpose, FileRecord } from "./file-store.ts";

/** A file that comes in parts. */
export interface UploadRecord {
  readonly id: string;
  readonly accountId: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  /** What all parts of the file together will have. */
  readonly sizeBytes: number;
  /** How long the file lives; null: as long as files are kept. */
  readonly fileLifeMs: number | null;
  readonly state: "pending" | "completed" | "cancelled";
  /** Of a completed one. The file may be gone. */
  readonly fileId: string | null;
  /** SHA-256 of the ids of the parts that the file was made of, in their order: tells a repeat of `complete` from another order. */
  readonly partsHash: string | null;
  readonly createdAtMs: number;
  /** From then on it takes no part and is not completed. */
  readonly expiresAtMs: number;
}

export interface UploadPart {
  readonly id: string;
  readonly uploadId: string;
  readonly sizeBytes: number;
  /** Hexadecimal. An upload has each content once. */
  readonly sha256: string;
  readonly createdAtMs: number;
}

export interface PartLimits {
  readonly budget: FileBudget;
  /** Of one upload. */
  readonly maxParts: number;
  /** New end of the upload if the part is new. */
  readonly expiresAtMs: number;
}

export interface Completion {
  readonly uploadId: string;
  readonly partsHash: string;
  readonly file: FileRecord;
  readonly budget: FileBudget;
}

/** Facts about uploads in parts; the parts are on disk, in a folder of the upload that is removed after its row or its parts. */
export interface UploadStore {
  /** @throws {ServiceError} `file_budget_exceeded` if the account has `maxPending` pending ones that did not expire. */
  add(upload: UploadRecord, maxPending: number): Promise<void>;
  /** Another account's does not exist. One that expired is there until it is swept. */
  get(accountId: string, id: string): Promise<UploadRecord | undefined>;
  /** In the order in which they arrived. */
  parts(uploadId: string): Promise<UploadPart[]>;
  /**
   * Resolves with the part as it is stored: an earlier one if the upload has the same content already.
   * @throws {ServiceError} `upload_not_pending`, `file_budget_exceeded`, `payload_too_large` above the upload's size, `too_many_parts`.
   */
  addPart(part: UploadPart, limits: PartLimits): Promise<UploadPart>;
  /**
   * Makes the file and forgets the parts, in one step. Resolves as {@link FileStore.add} does.
   * @throws {ServiceError} `upload_not_pending`, `file_budget_exceeded`
   */
  complete(completion: Completion, nowMs: number): Promise<FileRecord>;
  /** Forgets the parts of a pending one. @returns whether it was pending. */
  cancel(accountId: string, id: string): Promise<boolean>;
  /** Forgets uploads that expired by then, at most `limit`. */
  removeExpired(nowMs: number, limit: number): Promise<RemovedUpload[]>;
  /** Forgets uploads of the account, at most `limit`. */
  removeOfAccount(accountId: string, limit: number): Promise<RemovedUpload[]>;
  /** Those that have no parts any more, nor will have any: they do not exist, or are not pending. */
  withoutParts(ids: readonly string[]): Promise<string[]>;
}

export type RemovedUpload = Pick<UploadRecord, "id" | "state">;
