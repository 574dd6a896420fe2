import type { Writable } from "node:stream";

/**
 * Call it before a write: everything that is written until then leaves in one system call.
 * @param until `microtask`: the microtasks that are queued already have run. `callback`: the end of the present callback. `turn`: the
 *   end of this turn of the event loop, after all that its callbacks caused.
 */
export function gatherWrites(stream: Writable, until: "microtask" | "callback" | "tick"): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  const uncork = (): void => stream.uncork();
  if (until === "tick") setImmediate(uncork);
  else if (until === "callback") process.nextTick(uncork);
  else queueMicrotask(uncork);
}
