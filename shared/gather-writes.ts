import type { Writable } from "node:stream";

/**
 * Call it before a write: everything that is written until `later` calls back leaves in one system call.
 * @param later `process.nextTick`: the end of the present callback. `setImmediate`: the end of this turn of the event loop, after all
 *   that its callbacks caused.
 */
export function gatherWrites(stream: Writable, later: (task: () => void) => unknown): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  later(() => stream.uncork());
}
