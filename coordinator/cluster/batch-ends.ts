import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { BatchService } from "../jobs/batch-service.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";

/** Subject of {@link EndedMessage}. */
const ENDED = "ended";
/** A message may be lost: storage is asked this often. */
const LOOK_MS = 5_000;

/** Published when a job of a batch failed or timed out, which may end the batch. */
interface EndedMessage {
  readonly batchId: string;
}

export interface BatchEndsDeps {
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly jobs: Pick<JobRegistry, "subscribe">;
  readonly batches: Pick<BatchService, "activeIds" | "endOver">;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "warn">;
}

/** The jobs of one batch may be at several coordinators: each learns when the batch is over, and ends those that it has. */
export class BatchEnds {
  readonly #deps: BatchEndsDeps;
  readonly #unsubscribe: Unsubscribe;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(deps: BatchEndsDeps) {
    this.#deps = deps;
    deps.jobs.subscribe((event) => {
      if (event.type !== "job_ended" || event.job.batchId === null) return;
      const { batchId, state, settled } = event.job;
      if (state !== "failed" && state !== "timeout") return;
      const message: EndedMessage = { batchId };
      void settled?.then(() => deps.bus.publish(ENDED, message));
    });
    this.#unsubscribe = deps.bus.subscribe(ENDED, (message) => {
      const { batchId } = message as Partial<EndedMessage>;
      if (typeof batchId === "string") void this.#look([batchId]);
    });
    this.#lookLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer = this.#deps.clock.schedule(LOOK_MS, () => {
      void this.#look(this.#deps.batches.activeIds).finally(() => {
        if (!this.#isClosed) this.#lookLater();
      });
    });
  }

  async #look(batchIds: readonly string[]): Promise<void> {
    try {
      await this.#deps.batches.endOver(batchIds);
    } catch (error) {
      if (!this.#isClosed) this.#deps.log.warn({ err: error }, "Looking for batches that are over failed");
    }
  }
}
