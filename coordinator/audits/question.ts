import type { JobErrorCode } from "../../shared/errors.ts";
import type { Evidence } from "../credits/standing.ts";
import type { Reading } from "../store/audits.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { Likeness } from "../checks/likeness.ts";

/** Failures that the input explains. Another version of the agent may accept the input, so they blame no owner. */
export const FAILED_BY_INPUT: ReadonlySet<JobErrorCode> = new Set([
  "invalid_input",
  "cargo_failed",
  "context_length_exceeded",
]);

/** What the auditor asks readers about an answer: to read it, or to repeat its job. */
export interface Question {
  /** Input of the job that a reader runs. */
  readonly input: JobInput;
  /** Time limit of that job, waiting included, in ms. */
  readonly limitMs: number;
  /** Why a lie was found, after the number of readers. */
  readonly lie: string;
  /** Judges the job that a reader ran, or returns why it is not a reading. Must be called for one reader at a time. */
  judge(done: JobRecord, reader: string): Promise<Judgement | { readonly problem: string }>;
}

/** What a reader found. */
export interface Judgement {
  readonly reading: Reading;
  /** The evidence about the owner of the answer, with this reading. */
  readonly evidence: Evidence;
  /** How like the results of the readers before are to this one, in their order. */
  readonly likeness: readonly Likeness[];
}
