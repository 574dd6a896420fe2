import type { Clock, Timer } from "../../shared/clock.ts";

/**
 * Keeps one timer for many deadlines.
 * @param nextMs Returns the earliest deadline, by the monotonic clock; null without deadlines.
 */
export function openAlarm(
  clock: Pick<Clock, "monotonicMs" | "schedule">,
  nextMs: () => number | null,
  onDue: () => void,
) {
  let wake: { readonly atMs: number; readonly timer: Timer } | null = null;
  let isClosed = false;

  /** Sets the timer again if the earliest deadline has changed. */
  function set(): void {
    const atMs = nextMs();
    if (isClosed || atMs === (wake?.atMs ?? null)) return;
    wake?.timer.cancel();
    wake = null;
    if (atMs === null) return;
    const timer = clock.schedule(atMs - clock.monotonicMs(), () => {
      wake = null;
      onDue();
      set();
    });
    wake = { atMs, timer };
  }

  function close(): void {
    isClosed = true;
    wake?.timer.cancel();
  }

  return { set, close };
}
