import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { BatchService } from "../jobs/batch-service.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import { M } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** A message may be lost: storage is asked this often. */
const POLL_MS = 5_000;

/**
 * The jobs of one batch may be at several coordinators: each learns when the batch is over, and ends those that it has. Until the returned
 * function is called.
 */
export function endBatchesEverywhere(
  peers: Pick<Peers, "tell" | "hear">,
  jobs: Pick<JobRegistry, "subscribe">,
  batches: Pick<BatchService, "activeIds" | "endOver">,
  { clock, log }: { readonly clock: Pick<Clock, "schedule">; readonly log: Pick<Logger, "warn"> },
): () => void {
  let timer: Timer;
  let isClosed = false;

  async function look(batchIds: readonly string[]): Promise<void> {
    try {
      await batches.endOver(batchIds);
    } catch (error) {
      if (!isClosed) log.warn({ err: error }, "Looking for batches that are over failed");
    }
  }

  function lookLater(): Timer {
    return clock.schedule(POLL_MS, () => {
      void look(batches.activeIds).finally(() => {
        if (!isClosed) timer = lookLater();
      });
    });
  }

  jobs.subscribe((event) => {
    if (event.type !== "job_ended" || event.job.batchId === null) return;
    const { batchId, state, settled } = event.job;
    if (state === "failed" || state === "timeout") void settled?.then(() => peers.tell(M.batchEnded, { batchId }));
  });
  const stop = peers.hear(M.batchEnded, ({ batchId }) => void look([batchId]));
  timer = lookLater();
  return () => {
    isClosed = true;
    stop();
    timer.cancel();
  };
}
