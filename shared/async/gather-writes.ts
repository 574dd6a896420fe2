import type { Writable } from "node:stream";

/**
 * Collects everything that is written from now on into one system call.
 * @param until end of the collection. `microtask`: after the microtasks that are already queued. `callback`: at the end
 * of the current callback. `turn`: at the end of this event loop tick, after everything that its callbacks caused
 */
export function gatherWrites(stream: Writable, until: "microtask" | "callback" | "tick"): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  const uncork = (): void => stream.uncork();
  if (until === "tick") setImmediate(uncork);
  else if (until === "callback") process.nextTick(uncork);
  else queueMicrotask(uncork);
}
