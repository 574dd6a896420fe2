import type { Question } from "../conversations.ts";
import type { StoredChunkRow } from "./feed-layout.ts";
import type { KeyedRequest, FirstRequest } from "./idempotency.ts";
import type { Piece } from "./large-json.ts";
import type { JobEnding, JobMove, NewBatch, NewJob, SubmittedJob } from "./job-store.ts";

export type JobText = Omit<SubmittedJob, "inputJson"> & { readonly input: string };
export type JobToWrite = Omit<NewJob, "input" | "inputJson" | "answer"> & JobText;

export interface ChunkToWrite extends StoredChunkRow {
  readonly text: string;
}

/** The end of a job for storage. `timings` and `error`: JSON texts. */
export interface EndToWrite extends Omit<JobEnding, "output" | "timings" | "error" | "lastChunk"> {
  /** Output as JSON text; empty for a large output; null if there is none or it equals the text of the feed. */
  readonly output: string | null;
  /** Length of a large output in UTF-16 units; null for an inline output. */
  readonly largeChars: number | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly lastChunk: ChunkToWrite | null;
  /** Pieces of a large output and of large values in the last chunk. */
  readonly pieces: readonly Piece[];
}

/** Writes of jobs. Each engine has its own SQL for them, because many writes share one commit. */
export interface HotWrites {
  /** Stores a job. Returns null, or for a repeated Idempotency-Key what the first request with the key created. */
  submitJob(args: JobToWrite): FirstRequest | null;
  /** Stores a batch. Returns the number of jobs with a quota slot, or for a repeat what `submitJob` returns. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly JobText[] }): FirstRequest | number;
  askQuestion(args: { readonly question: Question; readonly job: JobToWrite }): FirstRequest | null;
  askAgain(args: {
    readonly answerId: string;
    readonly endedJobId: string;
    readonly job: JobToWrite;
  }): FirstRequest | null;
  /** Returns what the first request with the key created. It is a write so that it sees every earlier submission. */
  findRepeat(args: KeyedRequest): FirstRequest | null;
  moveJob(args: JobMove): void;
  appendFeed(args: ChunkToWrite & { readonly jobId: string; readonly pieces: readonly Piece[] }): void;
  /** Ends a job. Returns the ids of the webhooks that become due. */
  endJob(args: EndToWrite): string[];
}

/**
 * Writes that record what already happened, on an Island or in memory. While the store is read-only these are retried
 * until they succeed; all other writes are refused.
 */
export const KEPT_WRITES: ReadonlySet<string> = new Set<keyof HotWrites>(["moveJob", "appendFeed", "endJob"]);

/** Runs a write and resolves after its commit. `key`: account or job whose writes stay in order. */
export type RunHotWrite = <K extends keyof HotWrites>(
  key: string,
  kind: K,
  args: Parameters<HotWrites[K]>[0],
) => Promise<ReturnType<HotWrites[K]>>;

export async function findRepeat(
  write: RunHotWrite,
  { accountId, createdAtMs, idempotency }: KeyedRequest,
): Promise<FirstRequest | null> {
  return idempotency === null ? null : write(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
}
