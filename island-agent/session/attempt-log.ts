import type { JobFailure } from "../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../shared/output.ts";
import type { NumberedFrame } from "../../shared/protocol/from-island.ts";

export type Unnumbered<T> = T extends NumberedFrame ? Omit<T, "seq" | "jobId" | "attempt"> : never;
export type LastFrame = Unnumbered<Exclude<NumberedFrame, { type: "output" }>>;

export interface AttemptName {
  readonly jobId: string;
  readonly attempt: number;
  /** Attempt token from `assign`. It is repeated when the Island reconnects with the job. */
  readonly claim: string;
}

export interface AttemptLog extends AttemptName {
  /** Called when output of the job cannot be sent, to stop its run. */
  readonly onFailure: (failure: JobFailure) => void;
  started: boolean;
  /** False until the start of the run was sent to the coordinator. */
  startSent: boolean;
  /** Number of prompt tokens read so far; null before reading, and for Cargos without prompts. */
  prompt: PromptTokens | null;
  lastSeq: number;
  /** Numbered frames that the coordinator has not acknowledged, in order. */
  unacked: NumberedFrame[];
  /** Output that is not in a frame yet: that of this event loop tick, or all since the socket fell behind. */
  items: OutputItem[];
  failure: JobFailure | null;
  hasEnded: boolean;
}
