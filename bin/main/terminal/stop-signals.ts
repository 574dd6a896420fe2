/** Calls `stop` at every SIGTERM and SIGINT from now on, in place of what was set before. */
export function onStopSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    // The new one first: with no listener in between, a signal that has just come would be lost.
    const earlier = process.listeners(name);
    process.on(name, stop);
    for (const listener of earlier) process.removeListener(name, listener);
  }
}
