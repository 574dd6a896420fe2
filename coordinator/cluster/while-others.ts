import type { Clock, Timer } from "../../shared/clock.ts";
import type { Peers } from "./peers.ts";

/**
 * Runs `work` every `ms` while there are other coordinators, and after the last of them has gone until it was done once. A coordinator
 * without others has no timer. Runs do not overlap.
 * @param work Returns false, or resolves with it, if it could not be done now.
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
      look();
    }
  }

  function look(): void {
    const isWanted = peers.others.length > 0 || !isDone;
    if (!isClosed && !isRunning && isWanted) timer ??= clock.schedule(ms, () => void run());
  }

  const stop = peers.onChange(look);
  look();
  return (): void => {
    isClosed = true;
    stop();
    timer?.cancel();
  };
}
