import type { Clock, Timer } from "../clock.ts";
import { ServiceError } from "../errors.ts";
import type { Logger } from "../logger.ts";

export interface LoopEnv {
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "error">;
  /** Ends the loop. */
  readonly stop: AbortSignal;
}

/**
 * Runs `work` repeatedly, `ms` after the end of the previous run. An error is logged once, and again only after a
 * different error or a success.
 * @param name action that the log message names, such as "read the stored Cargos"
 * @returns a function that runs the work now, or after the run in progress, and resolves when that run ends, whether it
 * failed or not. Once the loop is stopped, the function only waits for the run in progress
 */
export function every(
  { clock, log, stop }: LoopEnv,
  ms: number,
  name: string,
  work: () => unknown,
): () => Promise<void> {
  let timer: Timer | null = null;
  let last = Promise.resolve();
  let logged: string | null = null;
  const now = (): Promise<void> => (last = last.then(run));
  const schedule = (): void => {
    timer?.cancel();
    if (!stop.aborted) timer = clock.schedule(ms, () => void now());
  };
  async function run(): Promise<void> {
    if (stop.aborted) return;
    timer?.cancel();
    try {
      await work();
      logged = null;
    } catch (error) {
      const isStopped = error instanceof ServiceError && error.code === "shutting_down";
      if (logged !== String(error) && !isStopped) log.error({ err: error }, `Could not ${name}`);
      logged = String(error);
    }
    schedule();
  }
  stop.addEventListener("abort", () => timer?.cancel(), { once: true });
  schedule();
  return now;
}
