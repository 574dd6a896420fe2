import { randomFillSync } from "node:crypto";
import { monotonicFactory } from "ulid";

type IdKind = "job" | "user" | "key" | "itk" | "ses" | "txn" | "batch" | "msg" | "conv" | "coord" | "ann" | "file";

/** Random bytes for 256 ids. A call of the system's generator per character, as in ulid, costs 70 times as much. */
const random = new Uint8Array(4_096);
let used = random.length;

const nextUlid = monotonicFactory(() => {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return (random[used++] ?? 0) / 256;
});

/** A new id: `<kind>_` and a 26-character ULID, which sorts by creation. */
export function newId(kind: IdKind, nowMs: number): string {
  return `${kind}_${nextUlid(nowMs)}`;
}
