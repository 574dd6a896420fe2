import { systemClock } from "../../shared/clock.ts";
import type { IslandsApi } from "../load/scripted-islands.ts";
import type { Worker } from "./worker.ts";

const MAX_STILL_MS = 30_000;

/** Resolves when `count` ended jobs are durable. @throws if more jobs are durable, or if there is no progress. */
export async function untilAcknowledged(islands: Worker<IslandsApi>, count: number): Promise<void> {
  let [last, changedMs] = [-1, systemClock.monotonicMs()];
  for (;;) {
    const { acknowledged } = await islands.call("counts", undefined);
    if (acknowledged > count) throw new Error(`${acknowledged} jobs ended of ${count}`);
    if (acknowledged === count) return;
    if (acknowledged !== last) [last, changedMs] = [acknowledged, systemClock.monotonicMs()];
    if (systemClock.monotonicMs() - changedMs > MAX_STILL_MS)
      throw new Error(`Only ${acknowledged} jobs ended of ${count}`);
    await systemClock.sleep(5);
  }
}
