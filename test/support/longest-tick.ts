/** Measures how long one turn of the event loop takes, in CPU time of its thread, which other processes do not change. */
export function watchTicks() {
  let longestMs = 0;
  let isOver = false;
  let { user: before } = process.threadCpuUsage();
  const tick = (): void => {
    const { user } = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user - before) / 1_000);
    before = user;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  return {
    /** Returns the CPU time of the longest turn so far, in milliseconds. */
    stop(): number {
      isOver = true;
      return longestMs;
    },
  };
}
