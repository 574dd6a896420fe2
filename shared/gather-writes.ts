import type { Writable } from "node:stream";

/**
 * Call it before a write: everything that is written in this turn of the event loop leaves in one system call at its end. Nothing is
 * delayed beyond the turn.
 */
export function gatherWrites(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
