import type { Question } from "../conversations.ts";
import type { StoredChunkRow } from "./feed-layout.ts";
import type { KeyedRequest, Made } from "./idempotency.ts";
import type { Piece } from "./large-json.ts";
import type { JobEnding, JobMove, NewBatch, NewJob, SubmittedJob } from "./job-store.ts";

/** A job as it is written. `input`: JSON text. */
export type JobText = Omit<SubmittedJob, "input" | "inputJson"> & { readonly input: string };
export type JobToWrite = Omit<NewJob, "input" | "inputJson" | "answer"> & JobText;

export interface ChunkToWrite extends StoredChunkRow {
  readonly text: string;
}

/** The end of a job. `timings` and `error`: JSON text. */
export interface EndToWrite extends Omit<JobEnding, "output" | "timings" | "error" | "lastChunk"> {
  /** JSON text; empty for a large output; null if there is none or it is the text of the feed. */
  readonly output: string | null;
  /** Length of a large output; null for others. */
  readonly largeChars: number | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly lastChunk: ChunkToWrite | null;
  /** Pieces of a large output and of large values in the last chunk. */
  readonly pieces: readonly Piece[];
}

/** Writes of jobs, with SQL of each engine, because many share a commit. */
export interface HotWrites {
  /** Returns what the first request with the Idempotency-Key created; null if this job was stored. */
  submitJob(args: JobToWrite): Made | null;
  /** Like `submitJob`, but returns the number of jobs with a quota slot if the batch was stored. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly JobText[] }): Made | number;
  askQuestion(args: { readonly question: Question; readonly job: JobToWrite }): Made | null;
  askAgain(args: { readonly answerId: string; readonly endedJobId: string; readonly job: JobToWrite }): Made | null;
  /** Returns what the first request with this Idempotency-Key created. A write, so that it sees every earlier submission. */
  findRepeat(args: KeyedRequest): Made | null;
  moveJob(args: JobMove): void;
  appendFeed(args: ChunkToWrite & { readonly jobId: string; readonly pieces: readonly Piece[] }): void;
  /** Returns the ids of the webhooks that become due. */
  endJob(args: EndToWrite): string[];
}

/**
 * Writes of what has already happened, on an Island or in memory. They are retried until they are stored; others are
 * refused while the store is read-only.
 */
export const KEPT_WRITES: ReadonlySet<string> = new Set<keyof HotWrites>(["moveJob", "appendFeed", "endJob"]);

/** `key`: account or job whose writes stay in order. Resolves after the commit. */
export type RunHotWrite = <K extends keyof HotWrites>(
  key: string,
  kind: K,
  args: Parameters<HotWrites[K]>[0],
) => Promise<ReturnType<HotWrites[K]>>;

export async function findRepeat(
  write: RunHotWrite,
  { accountId, createdAtMs, idempotency }: KeyedRequest,
): Promise<Made | null> {
  return idempotency === null ? null : write(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
}
