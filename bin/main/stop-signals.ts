/** Calls `stop` at every SIGTERM and SIGINT from now on, in place of what was set before. */
export function onStopSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.removeAllListeners(name);
    process.on(name, stop);
  }
}
