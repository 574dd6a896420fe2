import type { Question } from "../conversations.ts";
import type { KeyedRequest, Made } from "./idempotency.ts";
import type { Piece } from "./large-json.ts";
import type { JobEnding, JobMove, NewBatch, NewJob, SubmittedJob } from "./job-store.ts";

/** A job in the form in which it is written. `input`: JSON text. */
export type JobText = Omit<SubmittedJob, "input" | "inputJson"> & { readonly input: string };
export type JobToWrite = Omit<NewJob, "input" | "inputJson" | "answer"> & JobText;

/** A chunk of a feed, as a row has it. `items`: its layout as JSON; `text`: of its tokens. */
export interface ChunkToWrite {
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: string;
  readonly text: string;
}

/** `timings` and `error`: JSON text. */
export interface EndToWrite extends Pick<
  JobEnding,
  "jobId" | "event" | "attempt" | "atMs" | "startedAtMs" | "usage" | "finishReason" | "chargeMicro" | "postings"
> {
  /** JSON text; empty for a large one; null: the text of the feed, or none. */
  readonly output: string | null;
  /** Of a large output; null for others. */
  readonly largeChars: number | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly lastChunk: ChunkToWrite | null;
  /** Of a large output, and of what the last chunk has. */
  readonly pieces: readonly Piece[];
}

/** The writes that jobs make. Each engine has SQL of its own for them: many share a commit. */
export interface HotWrites {
  /** Returns what the first request with the Idempotency-Key made, or null if this job was stored. */
  submitJob(args: JobToWrite): Made | null;
  /** As {@link HotWrites.submitJob}; where the batch was stored, how many of its jobs have a place. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly JobText[] }): Made | number;
  askQuestion(args: { readonly question: Question; readonly job: JobToWrite }): Made | null;
  askAgain(args: { readonly answerId: string; readonly endedJobId: string; readonly job: JobToWrite }): Made | null;
  /** What the first request with the same Idempotency-Key made. A write, so that it sees every submission before it. */
  findRepeat(args: KeyedRequest): Made | null;
  moveJob(args: JobMove): void;
  appendFeed(args: ChunkToWrite & { readonly jobId: string; readonly pieces: readonly Piece[] }): void;
  /** Returns the ids of the webhooks that become due. */
  endJob(args: EndToWrite): string[];
}

type HotWrite = keyof HotWrites;
/** `key`: the account or job whose writes stay in order. Resolves after the commit. */
export type RunHotWrite = <K extends HotWrite>(
  key: string,
  kind: K,
  args: Parameters<HotWrites[K]>[0],
) => Promise<ReturnType<HotWrites[K]>>;
