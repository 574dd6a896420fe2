import type { JobErrorCode } from "../../../shared/errors.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { Usage } from "../../../shared/output.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";

type AttemptName = Pick<Assign, "jobId" | "attempt">;

/** What an Island says of an attempt, for a FakeIsland to send. */
export function beginFrames({ jobId, attempt }: AttemptName): FromIsland[] {
  return [
    { type: "accepted", jobId, attempt },
    { type: "started", jobId, attempt },
  ];
}

/** A token for each text. */
export function outputFrame({ jobId, attempt }: AttemptName, seq: number, ...texts: string[]): FromIsland {
  const items = texts.map((content) => ({ type: "token" as const, content, count: 1 }));
  return { type: "output", jobId, attempt, seq, items };
}

export function finishedFrame(
  { jobId, attempt }: AttemptName,
  seq: number,
  { output, ...usage }: Partial<Usage> & { output?: JsonValue | undefined } = {},
): FromIsland {
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

/** A failure that another Island would not mend. */
export function failedFrame({ jobId, attempt }: AttemptName, seq: number, code: JobErrorCode): FromIsland {
  return { type: "failed", jobId, attempt, seq, code, message: "because", retryable: false };
}

/** A whole run that writes `texts`. */
export function runFrames(assign: Assign, ...texts: string[]): FromIsland[] {
  return [
    ...beginFrames(assign),
    ...(texts.length === 0 ? [] : [outputFrame(assign, 1, ...texts)]),
    finishedFrame(assign, texts.length === 0 ? 1 : 2, { completionTokens: texts.length }),
  ];
}
