/** What a file is for, in OpenAI's words. Batches read `batch`; `batch_output` is what they write. */
export const FILE_PURPOSES = [
  "assistants",
  "batch",
  "batch_output",
  "evals",
  "fine-tune",
  "user_data",
  "vision",
] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];

export interface FileRecord {
  readonly id: string;
  readonly accountId: string;
  readonly purpose: FilePurpose;
  /** Without folders and control characters; at most 255 characters. */
  readonly filename: string;
  readonly sizeBytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  /** Name of the content on disk. Files with equal content share one. */
  readonly blob: string;
  readonly createdAtMs: number;
  /** From then on it does not exist; null: never. */
  readonly expiresAtMs: number | null;
}

/** Limits of one account. */
export interface FileBudget {
  /** Of all its files together. */
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface FileUsage {
  readonly files: number;
  readonly bytes: number;
}

export interface FileList {
  /** The id before the page; null: from the first on. */
  readonly afterId: string | null;
  readonly limit: number;
  readonly isNewestFirst: boolean;
  /** Null: all. */
  readonly purpose: FilePurpose | null;
  /** Files that expired by then are left out. */
  readonly nowMs: number;
}

/** A file that a job names, or whose lines a batch answers: it is kept until the job or batch has ended. */
export interface FileHold {
  /** Or of the batch. */
  readonly jobId: string;
  readonly fileId: string;
}

/** A hold of a job or batch that is not stored counts for this long: its commit is under way, or failed. */
export const UNSTORED_HOLD_MS = 600_000;

/** What a step removed. */
export interface RemovedFiles {
  readonly files: number;
  /** Contents that no file has any more; their names are never used again. */
  readonly blobs: readonly string[];
}

/**
 * Facts about files; contents are on disk. A content is put in place before its file is added, and removed after the file's removal
 * committed: what a crash leaves is a content that {@link withoutFile} names.
 */
export interface FileStore {
  /**
   * Resolves with the file as it is stored. Its `blob` is another than `file.blob` if an equal content is there already; the new one is
   * then not needed.
   * @throws {ServiceError} `file_budget_exceeded`, and nothing is stored.
   */
  add(file: FileRecord, budget: FileBudget): Promise<FileRecord>;
  /** Another account's file does not exist, nor one that expired. */
  get(accountId: string, id: string, nowMs: number): Promise<FileRecord | undefined>;
  list(accountId: string, list: FileList): Promise<FileRecord[]>;
  usage(accountId: string): Promise<FileUsage>;
  /** Files of all accounts, and the bytes of their contents, equal ones once. */
  total(): Promise<FileUsage>;
  /**
   * Keeps files of the account for jobs or batches that are stored next: {@link remove} and {@link removeExpired} leave them until these
   * have ended.
   * Resolves with the ids of those that do not exist, and then keeps none.
   */
  hold(accountId: string, holds: readonly FileHold[], nowMs: number): Promise<string[]>;
  /** Forgets the holds of jobs or batches that were refused: nothing of them is stored. */
  unhold(holds: readonly FileHold[]): Promise<void>;
  /** A file that the job or batch holds, also one that expired since; undefined once it has ended. */
  held(hold: FileHold): Promise<FileRecord | undefined>;
  /** Forgets holds that keep nothing any more, at most `limit`. Resolves with their number. */
  removeOldHolds(nowMs: number, limit: number): Promise<number>;
  /** Removes one file of the account; none if it has no such file, or a job or batch holds it. */
  remove(accountId: string, id: string, nowMs: number): Promise<RemovedFiles>;
  /** Removes files that expired by then and that nothing holds, at most `limit`. */
  removeExpired(nowMs: number, limit: number): Promise<RemovedFiles>;
  /** Removes files of the account, whoever holds them, at most `limit`. */
  removeOfAccount(accountId: string, limit: number): Promise<RemovedFiles>;
  /** Those of the contents that no file has. */
  withoutFile(blobs: readonly string[]): Promise<string[]>;
}
