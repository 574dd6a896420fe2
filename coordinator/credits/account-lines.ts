import type { LedgerKind } from "./postings.ts";

/** A movement of an account's credits, as `GET /account/ledger` shows it. */
export interface LedgerLine {
  /** Sequence number; later lines have higher ones. */
  readonly id: number;
  /**
   * Kind of movement. `correction`: a grant that takes credits back. `refund`: a grant for a job whose Island was found
   * to lie.
   */
  readonly kind: Exclude<LedgerKind, "fee"> | "correction" | "refund";
  /** Change of the spendable balance in micro-credits; 0 for a charge, which comes from the hold. */
  readonly micro: number;
  /** Change of the micro-credits held for unfinished jobs. */
  readonly heldMicro: number;
  /** Spendable balance after this movement, in micro-credits. */
  readonly balanceMicro: number;
  /** Id of the job; null for a grant and for the hold of a batch. */
  readonly jobId: string | null;
  /** Id of the batch, for the hold of a batch; its jobs settle under their own ids. */
  readonly batchId: string | null;
  /** Slug of the Cargo of the job or batch; null for a grant. */
  readonly slug: string | null;
  /** Operator's note on a grant; null for none. */
  readonly note: string | null;
  readonly atMs: number;
}

/** A stored posting that is a line: every posting of the client party, and the charges of the hold party. */
export interface LineEntry extends Pick<LedgerLine, "id" | "micro" | "slug" | "note" | "atMs"> {
  readonly kind: Exclude<LedgerKind, "fee">;
  /** Id of the job or batch; null for a grant. */
  readonly subjectId: string | null;
}

/** Converts entries, newest first, to lines. `balanceMicro`: spendable balance after the newest entry. */
export function linesOf(entries: readonly LineEntry[], balanceMicro: number): LedgerLine[] {
  let balance = balanceMicro;
  return entries.map(({ micro: moved, subjectId, ...entry }): LedgerLine => {
    const isBatch = subjectId?.startsWith("batch_") === true;
    const [jobId, batchId] = isBatch ? [null, subjectId] : [subjectId, null];
    const kind = entry.kind === "grant" ? grantKind(moved, jobId) : entry.kind;
    const [micro, heldMicro] = movedBy(entry.kind, moved);
    const line = { ...entry, kind, jobId, batchId, micro, heldMicro, balanceMicro: balance };
    balance -= micro;
    return line;
  });
}

function grantKind(micro: number, jobId: string | null): LedgerLine["kind"] {
  if (jobId !== null) return "refund";
  return micro < 0 ? "correction" : "grant";
}

/** Returns the changes that a posting makes to the spendable balance and the hold. */
function movedBy(kind: LineEntry["kind"], moved: number): readonly [micro: number, heldMicro: number] {
  switch (kind) {
    case "hold":
    case "release":
      return [moved, -moved];
    case "charge":
      return [0, moved];
    case "grant":
    case "earning":
      return [moved, 0];
    default:
      return kind satisfies never;
  }
}
