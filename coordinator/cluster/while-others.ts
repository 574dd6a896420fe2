import type { Clock, Timer } from "../../shared/clock.ts";
import type { Peers } from "./peers.ts";

/**
 * Runs `work` every `ms` while there are other coordinators, and once after the last of them has gone. A coordinator without others has no
 * timer. Runs do not overlap.
 */
export function whileOthers(peers: Peers, clock: Clock, ms: number, work: () => unknown) {
  let timer: Timer | null = null;
  let isRunning = false;
  let isClosed = false;

  async function run(): Promise<void> {
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
      timer = null;
      look();
    }
  }

  function look(): void {
    if (!isClosed && !isRunning && peers.others.length > 0) timer ??= clock.schedule(ms, () => void run());
  }

  const stop = peers.onChange(look);
  look();
  return (): void => {
    isClosed = true;
    stop();
    timer?.cancel();
  };
}
