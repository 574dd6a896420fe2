/** Members of a ledger line that entries need. */
interface Line {
  readonly id: number;
  readonly kind: string;
  readonly amount: number;
  readonly held: number;
  readonly balance: number;
  readonly job_id: string | null;
  readonly batch_id: string | null;
  readonly workload_slug: string | null;
  readonly created_at: string;
}

/** All lines booked for one job, or a single other line, such as a grant, an earning or the hold of a batch. */
export interface LedgerEntry<L extends Line = Line> {
  readonly id: number;
  /** Kind of the newest line; `charge` for each job that cost credits. */
  readonly kind: L["kind"];
  readonly slug: string | null;
  /** Job of this account; null for other lines, and for an earning, whose job belongs to another account. */
  readonly jobId: string | null;
  readonly batchId: string | null;
  /** Final cost of a job; the hold while it is unfinished. */
  readonly change: number;
  /** Credits to spend after the newest line. */
  readonly balance: number;
  readonly at: string;
  /** Lines, newest first. Older lines may not have been read yet. */
  readonly lines: readonly L[];
}

/**
 * Groups lines, newest first, into one entry per job. Entries are ordered by their newest lines. A line that occurs
 * twice counts once: pages overlap when lines were added between reading them.
 */
export function entriesOf<L extends Line>(lines: readonly L[]): LedgerEntry<L>[] {
  const groups = new Map<string, L[]>();
  for (const line of new Map(lines.map((each) => [each.id, each])).values()) {
    const key = line.kind === "earning" || line.job_id === null ? String(line.id) : line.job_id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  return [...groups.values()].flatMap((group) => {
    const [newest] = group;
    if (newest === undefined) return [];
    const charges = group.filter(({ kind }) => kind === "charge");
    const isReleased = newest.kind === "release";
    return [
      {
        id: newest.id,
        kind: charges[0]?.kind ?? newest.kind,
        slug: newest.workload_slug,
        jobId: newest.kind === "earning" ? null : newest.job_id,
        batchId: newest.batch_id,
        // A charge takes credits from the hold. A job whose hold was released without a charge cost nothing.
        change: charges.length > 0 ? charges.reduce((sum, { held }) => sum + held, 0) : isReleased ? 0 : newest.amount,
        balance: newest.balance,
        at: newest.created_at,
        lines: group,
      },
    ];
  });
}
