import type { AttemptName } from "../../../island-agent/session/attempt-log.ts";
import { Outbox } from "../../../island-agent/session/outbox.ts";
import { MAX_FRAME_BYTES } from "../../../shared/protocol/codec.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { ManualClock } from "../../support/manual-clock.ts";

export const name = (jobId: string, attempt: number): AttemptName => ({
  jobId,
  attempt,
  claim: `claim of ${jobId} ${attempt}`,
});
export const NEVER_FAILS = (): void => {
  throw new Error("It failed");
};
export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const token = (content: string) => ({ type: "token" as const, content, count: 1 });
export const finished = {
  type: "finished" as const,
  finishReason: "stop" as const,
  usage: { promptTokens: 1, completionTokens: 2 },
  timings: { loadMs: 0, firstOutputMs: 1, runMs: 2 },
};

/** An outbox whose session was welcomed, and the frames that it sends. */
export function open(features: readonly string[] = []): { outbox: Outbox; sent: FromIsland[]; clock: ManualClock } {
  const clock = new ManualClock();
  const outbox = new Outbox(clock);
  const sent: FromIsland[] = [];
  outbox.connect((frame) => sent.push(frame), [], MAX_FRAME_BYTES, features);
  return { outbox, sent, clock };
}
