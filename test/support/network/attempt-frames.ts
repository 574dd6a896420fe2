import type { JobErrorCode } from "../../../shared/errors.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { Usage } from "../../../shared/output.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { SingleFrame } from "../../../shared/protocol/from-island.ts";

type AttemptName = Pick<Assign, "jobId" | "attempt">;

/** Returns `accepted` and `started` of an attempt, for a FakeIsland to send. */
export function beginFrames({ jobId, attempt }: AttemptName): SingleFrame[] {
  return [
    { type: "accepted", jobId, attempt },
    { type: "started", jobId, attempt },
  ];
}

/** Returns an `output` frame with one token per text. */
export function outputFrame({ jobId, attempt }: AttemptName, seq: number, ...texts: string[]): SingleFrame {
  const items = texts.map((content) => ({ type: "token" as const, content, count: 1 }));
  return { type: "output", jobId, attempt, seq, items };
}

export function finishedFrame(
  { jobId, attempt }: AttemptName,
  seq: number,
  { output, ...usage }: Partial<Usage> & { output?: JsonValue | undefined } = {},
): SingleFrame {
  return {
    type: "finished",
    jobId,
    attempt,
    seq,
    ...(output === undefined ? {} : { output }),
    finishReason: "stop",
    usage: { promptTokens: 5, completionTokens: 0, ...usage },
    timings: { loadMs: 1, firstOutputMs: 1, runMs: 10 },
  };
}

/** Returns a `failed` frame that is not retryable. */
export function failedFrame({ jobId, attempt }: AttemptName, seq: number, code: JobErrorCode): SingleFrame {
  return { type: "failed", jobId, attempt, seq, code, message: "because", retryable: false };
}

/** Returns all frames of a run that outputs `texts`. */
export function runFrames(assign: Assign, ...texts: string[]): SingleFrame[] {
  return [
    ...beginFrames(assign),
    ...(texts.length === 0 ? [] : [outputFrame(assign, 1, ...texts)]),
    finishedFrame(assign, texts.length === 0 ? 1 : 2, { completionTokens: texts.length }),
  ];
}
