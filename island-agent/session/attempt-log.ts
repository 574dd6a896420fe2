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
  /** The secret that `assign` gave; repeated when the Island comes back with the job. */
  readonly claim: string;
}

/** What the outbox knows of an attempt. */
export interface AttemptLog extends AttemptName {
  /** Called when output of the job cannot be sent, to stop its run. */
  readonly onFailure: (failure: JobFailure) => void;
  started: boolean;
  /** False while the coordinator has not heard that the run began. */
  startTold: boolean;
  /** How much of the prompt is read; null before, and for Cargos without prompts. */
  prompt: PromptTokens | null;
  lastSeq: number;
  /** Numbered frames that the coordinator has not acknowledged, in order. */
  unacked: NumberedFrame[];
  /** Output of this turn of the event loop, or since the socket is behind; not yet in a frame. */
  items: OutputItem[];
  failure: JobFailure | null;
  hasEnded: boolean;
}
