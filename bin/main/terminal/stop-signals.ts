/** Calls `stop` at every SIGTERM and SIGINT from now on, instead of the previous function. */
export function onStopSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    // Added before the old listener is removed: without a listener in between, a signal would be lost.
    const earlier = process.listeners(name);
    process.on(name, stop);
    for (const listener of earlier) process.removeListener(name, listener);
  }
}
