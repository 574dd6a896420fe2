import type Database from "better-sqlite3";
import { refusalOf, type LedgerParty, type Posting } from "../../../credits/postings.ts";

export type Ledger = ReturnType<typeof openLedger>;

/**
 * Opens the ledger for the writer's transactions. Balances are cached within a transaction and written by `flush`, so
 * that a party with many operations costs one update. Amounts are exact doubles. Balances are bigints, because the
 * network's balance counts all credits ever issued.
 */
export function openLedger(db: Database.Database) {
  const balances = new Map<LedgerParty, bigint>();
  const changed = new Set<LedgerParty>();
  let lastId: number | null = null;
  const selectBalance = db
    .prepare<[string], bigint>("SELECT micro FROM balances WHERE party = ?")
    .pluck()
    .safeIntegers();
  const updateBalance = db.prepare<[bigint, string]>("UPDATE balances SET micro = ? WHERE party = ?");
  const insertNote = db.prepare<[number, string]>("INSERT INTO ledger_notes (txn, note) VALUES (?, ?)");
  const selectLastId = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM entries").pluck();
  const insertsByCount = new Map<number, Database.Statement>();
  const prepareInsert = (count: number): Database.Statement => {
    const rows = Array.from({ length: count }, () => "(?, ?, ?, ?, ?, ?, ?)").join(", ");
    return db.prepare(`INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms) VALUES ${rows}`);
  };

  /** Returns a balance in micro-credits; undefined for an unknown party. */
  function balanceOf(party: LedgerParty): bigint | undefined {
    const kept = balances.get(party);
    if (kept !== undefined) return kept;
    const stored = selectBalance.get(party);
    if (stored !== undefined) balances.set(party, stored);
    return stored;
  }

  function add(party: LedgerParty, micro: number): void {
    balances.set(party, (balanceOf(party) ?? 0n) + BigInt(micro));
    changed.add(party);
  }

  return {
    balanceOf,
    /** Forgets the cached balances at the start of a transaction. */

    begin(): void {
      balances.clear();
      changed.clear();
      lastId = null;
    },

    /** Checks postings before the operation writes anything. @throws the refusal of the postings (`refusalOf`). */
    assertAccepts(postings: readonly Posting[]): void {
      const refusal = refusalOf(postings, balanceOf);
      if (refusal !== null) throw refusal;
    },

    /** Drops unchanged balances, because a step that was rolled back may have created their parties. */
    forget(): void {
      for (const party of balances.keys()) if (!changed.has(party)) balances.delete(party);
    },

    /**
     * Writes postings as one movement. `subjectId`: id of the job or batch. `note`: text shown to the account.
     * @throws {Error} for postings that `assertAccepts` refuses; this rolls back what the operation has written.
     */
    post(postings: readonly Posting[], subjectId: string | null, atMs: number, note: string | null = null): void {
      const refusal = refusalOf(postings, balanceOf);
      if (refusal !== null) throw new Error(`The ledger refuses postings: ${refusal.message}`, { cause: refusal });
      const moved = postings.filter(({ micro }) => micro !== 0);
      if (moved.length === 0) return;
      lastId ??= selectLastId.get() ?? 0;
      const txn = lastId + 1;
      const values: unknown[] = [];
      for (const { party, micro, kind } of moved) {
        lastId += 1;
        // Only the first entry contains the job and the time.
        const isFirst = lastId === txn;
        values.push(lastId, txn, party, micro, kind, isFirst ? subjectId : null, isFirst ? atMs : 0);
        add(party, micro);
      }
      const insert = insertsByCount.get(moved.length) ?? prepareInsert(moved.length);
      insertsByCount.set(moved.length, insert);
      insert.run(...values);
      if (note !== null) insertNote.run(txn, note);
    },

    /** Writes the changed balances. The database rejects a negative balance of a client or a hold. */
    flush(): void {
      for (const party of changed) updateBalance.run(balanceOf(party) ?? 0n, party);
      changed.clear();
    },
  };
}

/** Rebuilds the lines of copied entries: ids may have gaps, and the trigger creates lines only at multiples of 256. */
export function rebuildLedgerLines(db: Database.Database): void {
  db.exec(`DELETE FROM ledger_lines;
    INSERT INTO ledger_lines (party, entry, micro)
      SELECT party, id, micro FROM entries
      WHERE id <= (SELECT max(id) FROM entries) / 256 * 256 AND (kind = 'charge' OR party GLOB 'client:*')
      ORDER BY party, id`);
}
