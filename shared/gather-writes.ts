import type { Writable } from "node:stream";

/**
 * Call it before a write: everything that is written until then leaves in one system call.
 * @param until `callback`: the end of the present callback. `turn`: the end of this turn of the event loop, after all that its
 *   callbacks caused.
 */
export function gatherWrites(stream: Writable, until: "callback" | "turn"): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  if (until === "turn") setImmediate(() => stream.uncork());
  else process.nextTick(() => stream.uncork());
}
