import type { UsedKey } from "./key-spending.ts";

/** In OpenAI's words. */
export const FILE_BATCH_STATES = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled",
] as const;
export type FileBatchState = (typeof FILE_BATCH_STATES)[number];

/** Why a batch failed. `line`: of the input, from 1; null: not about a line. */
export interface FileBatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** What the client asked for; it never changes. */
export interface FileBatchRequest {
  /** Path of the API, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly completionWindow: "24h";
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Of the files that it makes; null: as long as files are kept. */
  readonly outputExpiresAfterMs: number | null;
  /** The API key that it was made with, whose limits its jobs keep; null: by a session. */
  readonly apiKey: UsedKey | null;
}

/** How far it is, as who runs it says now and then. */
export interface FileBatchProgress {
  readonly state: FileBatchState;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly errors: readonly FileBatchError[];
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  readonly inProgressAtMs: number | null;
  readonly finalizingAtMs: number | null;
}

export interface FileBatch {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  /** End of the time that it may take. */
  readonly expiresAtMs: number;
  readonly request: FileBatchRequest;
  readonly progress: FileBatchProgress;
  /** When the client asked to cancel it. */
  readonly cancellingAtMs: number | null;
  readonly endedAtMs: number | null;
}

export type NewFileBatch = Omit<FileBatch, "cancellingAtMs" | "endedAtMs">;

/** One coordinator runs a batch at a time: the one whose lease lasts. */
export interface FileBatchLease {
  readonly id: string;
  readonly ownerId: string;
  readonly untilMs: number;
}

/** Batches over files. The lines' jobs are jobs as any other, and their results are in files. */
export interface FileBatchStore {
  /** False, and nothing is stored, if the account has `maxOpen` that have not ended. */
  add(batch: NewFileBatch, maxOpen: number): Promise<boolean>;
  /** Another account's batch does not exist. */
  get(accountId: string, id: string): Promise<FileBatch | undefined>;
  /** Newest first. `afterId`: the id before the page. */
  list(accountId: string, page: { readonly afterId: string | null; readonly limit: number }): Promise<FileBatch[]>;
  /** Asks who runs it to cancel it. False if it has ended, or is being cancelled already. */
  cancel(accountId: string, id: string, atMs: number): Promise<boolean>;
  /** Takes batches that have not ended and that nobody runs, oldest first. */
  lease(by: Omit<FileBatchLease, "id">, nowMs: number, limit: number): Promise<FileBatch[]>;
  /** Stores how far it is and renews the lease. Undefined when another has it, and nothing is stored; else whether it is to be cancelled. */
  save(
    lease: FileBatchLease,
    progress: FileBatchProgress,
  ): Promise<{ readonly cancellingAtMs: number | null } | undefined>;
  /** Stores its end and gives the lease up. False when another has it, and nothing is stored. */
  end(lease: Omit<FileBatchLease, "untilMs">, progress: FileBatchProgress, atMs: number): Promise<boolean>;
  /** Gives up the leases of a coordinator that stops. */
  release(ownerId: string): Promise<void>;
  removeOfAccount(accountId: string): Promise<void>;
}
