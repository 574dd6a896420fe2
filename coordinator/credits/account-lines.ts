import type { LedgerKind } from "./postings.ts";

/** One movement of an account's credits, as its account sees it. */
export interface LedgerLine {
  /** Grows with time. */
  readonly id: number;
  readonly kind: Exclude<LedgerKind, "fee">;
  /** What it adds to what may be spent; 0 for a charge, which takes what is held. */
  readonly micro: number;
  /** What it adds to what is held for unfinished jobs. */
  readonly heldMicro: number;
  /** What may be spent after it. */
  readonly balanceMicro: number;
  /** The job that was submitted, run or earned by; null for a grant and for the hold of a batch. */
  readonly jobId: string | null;
  /** Of a hold: the batch whose jobs it is for, which settle under their own ids. */
  readonly batchId: string | null;
  readonly atMs: number;
}

/**
 * A stored posting that makes a line: every one of the account's client, and of its hold the charges. A hold and a release have
 * a posting of each and make one line.
 */
export interface LineEntry extends Pick<LedgerLine, "id" | "kind" | "micro" | "atMs"> {
  /** Id of a job, or of the batch that was submitted; null for a grant. */
  readonly subjectId: string | null;
}

/** The lines of `entries`, newest first. `balanceMicro`: what may be spent after the first of them. */
export function linesOf(entries: readonly LineEntry[], balanceMicro: number): LedgerLine[] {
  let balance = balanceMicro;
  return entries.map(({ micro: moved, subjectId, ...entry }) => {
    const micro = entry.kind === "charge" ? 0 : moved;
    const isBatch = subjectId?.startsWith("batch_") === true;
    const [jobId, batchId] = isBatch ? [null, subjectId] : [subjectId, null];
    const line = { ...entry, jobId, batchId, micro, heldMicro: heldBy(entry.kind, moved), balanceMicro: balance };
    balance -= micro;
    return line;
  });
}

function heldBy(kind: LedgerLine["kind"], moved: number): number {
  switch (kind) {
    case "hold":
    case "release":
      // What leaves the client goes to the hold, and the other way round.
      return -moved;
    case "charge":
      return moved;
    case "grant":
    case "earning":
      return 0;
    default:
      return kind satisfies never;
  }
}
