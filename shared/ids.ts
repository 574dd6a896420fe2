import { randomFillSync } from "node:crypto";
import { encodeTime, monotonicFactory } from "ulid";

type IdKind = "job" | "user" | "key" | "itk" | "ses" | "txn" | "batch" | "msg" | "conv" | "coord" | "ann" | "file";

/**
 * Random bytes for 256 ids. The package ulid calls the system's generator for each character, which takes 70 times as
 * long.
 */
const random = new Uint8Array(4_096);
let used = random.length;

const nextUlid = monotonicFactory(() => {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return (random[used++] ?? 0) / 256;
});

/** Returns a new id: `<kind>_` and a ULID of 26 characters, which sorts by time of creation. */
export function newId(kind: IdKind, nowMs: number): string {
  return `${kind}_${nextUlid(nowMs)}`;
}

/** Returns the lower bound of all ids that are created at or after a time. */
export function firstIdAt(kind: IdKind, atMs: number): string {
  return `${kind}_${encodeTime(Math.max(0, atMs))}`;
}
