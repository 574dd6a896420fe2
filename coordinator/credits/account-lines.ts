import type { LedgerKind } from "./postings.ts";

/** One movement of an account's credits, as `GET /account/ledger` shows it. */
export interface LedgerLine {
  /** Increases with time. */
  readonly id: number;
  readonly kind: Exclude<LedgerKind, "fee">;
  /** Change of the spendable balance; 0 for a charge, which is taken from the hold. */
  readonly micro: number;
  /** Change of what is held for unfinished jobs. */
  readonly heldMicro: number;
  /** Spendable balance after it. */
  readonly balanceMicro: number;
  /** The job that it belongs to; null for a grant and for the hold of a batch. */
  readonly jobId: string | null;
  /** The batch of a batch's hold; its jobs settle under their own ids. */
  readonly batchId: string | null;
  /** Cargo of the job or the batch; null for a grant. */
  readonly slug: string | null;
  readonly atMs: number;
}

/**
 * A stored posting that becomes a line: all of the account's client party, and the charges of its hold party. A hold and a release
 * have a posting for both parties and become one line.
 */
export interface LineEntry extends Pick<LedgerLine, "id" | "kind" | "micro" | "slug" | "atMs"> {
  /** Id of a job, or of the batch that was submitted; null for a grant. */
  readonly subjectId: string | null;
}

/** The lines of `entries`, newest first. `balanceMicro`: the spendable balance after the first of them. */
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
