import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Submitter } from "../accounts/identity.ts";
import type { FileApi } from "../files/file-service.ts";
import type { FileBatchProgress } from "../store/files/file-batches.ts";
import type { Store } from "../store/store.ts";
import type { BatchJobs, LineJobs } from "./line-jobs.ts";

/** A request of a line. */
export interface LineRequest {
  /** Path of the API. */
  readonly endpoint: string;
  readonly body: object;
  readonly submitter: Submitter;
  readonly jobs: LineJobs;
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

/** The API's endpoints, as batches use them. */
export interface LineEndpoints {
  readonly paths: readonly string[];
  /** The body of the endpoint's answer; null when `gone`. @throws {ServiceError} as the endpoint does */
  answer(line: LineRequest): Promise<object | null>;
  /** What a client of the endpoint gets for something thrown. */
  refusalOf(thrown: unknown, requestId: string): { readonly status: number; readonly body: object };
}

export interface FileBatchDeps {
  readonly store: Pick<Store, "accounts" | "fileBatches" | "files">;
  readonly files: FileApi;
  readonly jobs: BatchJobs;
  readonly endpoints: LineEndpoints;
  /** Called when a batch ended here. */
  readonly countEnd: (progress: FileBatchProgress) => void;
  readonly clock: Clock;
  readonly log: Pick<Logger, "error" | "info">;
}
