import type { Clock, Timer } from "../../shared/clock.ts";
import type { Peers } from "./peers.ts";

/**
 * Runs `work` every `ms` while there are other coordinators. After the last one has gone, it runs until it has
 * succeeded once.
 * @param work returns false, or a promise of it, to be retried
 */
export function whileOthers(peers: Peers, clock: Clock, ms: number, work: () => unknown) {
  let timer: Timer | null = null;
  let isRunning = false;
  let isDone = true;
  let isClosed = false;

  async function run(): Promise<void> {
    isRunning = true;
    isDone = false;
    try {
      isDone = (await work()) !== false;
    } finally {
      isRunning = false;
      timer = null;
      schedule();
    }
  }

  function schedule(): void {
    const isWanted = peers.others.length > 0 || !isDone;
    if (!isClosed && !isRunning && isWanted) timer ??= clock.schedule(ms, () => void run());
  }

  const stop = peers.onChange(schedule);
  schedule();
  return (): void => {
    isClosed = true;
    stop();
    timer?.cancel();
  };
}
