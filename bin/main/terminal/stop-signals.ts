/** Calls `stop` on each SIGTERM and SIGINT from now on, instead of the previous function. */
export function onStopSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    // The new listener is added before the old one is removed. Otherwise a signal between the two would end the
    // process.
    const earlier = process.listeners(name);
    process.on(name, stop);
    for (const listener of earlier) process.removeListener(name, listener);
  }
}
