import type { Question } from "../conversations.ts";
import type { KeyedRequest, Made } from "./idempotency.ts";
import type { Piece } from "./large-json.ts";
import type { JobEnding, JobMove, NewBatch, NewJob, SubmittedJob } from "./job-store.ts";

/** A job as it is written. `input`: JSON text. */
export type JobText = Omit<SubmittedJob, "input" | "inputJson"> & { readonly input: string };
export type JobToWrite = Omit<NewJob, "input" | "inputJson" | "answer"> & JobText;

/** A chunk of a feed as a row stores it. `items`: layout as JSON; `text`: text of its tokens. */
export interface ChunkToWrite {
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: string;
  readonly text: string;
}

/** The end of a job. `timings` and `error`: JSON text. */
export interface EndToWrite extends Pick<
  JobEnding,
  "jobId" | "event" | "attempt" | "atMs" | "startedAtMs" | "usage" | "finishReason" | "chargeMicro" | "postings"
> {
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

/** Writes of jobs. Each engine has its own SQL for them, because many share a commit. */
export interface HotWrites {
  /** Returns what the first request with the Idempotency-Key created, or null if this job was stored. */
  submitJob(args: JobToWrite): Made | null;
  /** Works like {@link HotWrites.submitJob}. Returns the number of jobs with a quota slot if the batch was stored. */
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

type HotWrite = keyof HotWrites;
/** `key`: account or job whose writes stay in order. Resolves after the commit. */
export type RunHotWrite = <K extends HotWrite>(
  key: string,
  kind: K,
  args: Parameters<HotWrites[K]>[0],
) => Promise<ReturnType<HotWrites[K]>>;
