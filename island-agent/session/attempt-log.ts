import type { JobFailure } from "../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../shared/output.ts";
import type { NumberedFrame } from "../../shared/protocol/from-island.ts";

/** A numbered frame before it has its number. */
export type Unnumbered<T> = T extends NumberedFrame ? Omit<T, "seq" | "jobId" | "attempt"> : never;
export type LastFrame = Unnumbered<Exclude<NumberedFrame, { type: "output" }>>;

/** Identifies an attempt on the wire. */
export interface AttemptName {
  readonly jobId: string;
  readonly attempt: number;
  /** Attempt token from `assign`; repeated when the Island reconnects with the job. */
  readonly claim: string;
}

/** State of an attempt in the outbox. */
export interface AttemptLog extends AttemptName {
  /** Called when output of the job cannot be sent, to stop its run. */
  readonly onFailure: (failure: JobFailure) => void;
  started: boolean;
  /** False until the start of the run was sent to the coordinator. */
  startSent: boolean;
  /** Prompt tokens read so far; null before, and for Cargos without prompts. */
  prompt: PromptTokens | null;
  lastSeq: number;
  /** Numbered frames that the coordinator has not acknowledged, in order. */
  unacked: NumberedFrame[];
  /** Output of this event loop tick, or since the socket is behind; not yet in a frame. */
  items: OutputItem[];
  failure: JobFailure | null;
  hasEnded: boolean;
}
