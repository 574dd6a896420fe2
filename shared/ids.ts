import { monotonicFactory } from "ulid";

export type IdKind = "job" | "user" | "key" | "itk" | "ses" | "txn" | "batch" | "msg" | "conv";

const nextUlid = monotonicFactory();

/** A new id: `<kind>_` and a 26-character ULID, which sorts by creation. Source: DESIGN §4. */
export function newId(kind: IdKind, nowMs: number): string {
  return `${kind}_${nextUlid(nowMs)}`;
}
