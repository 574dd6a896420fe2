import type Database from "better-sqlite3";
import { refusalOf, type LedgerParty, type Posting } from "../../../credits/postings.ts";

/**
 * The ledger within one transaction of the database. Entries are written at once. Balances are cached and written by `flush`, so that
 * a party that moves in many operations costs one update; `begin` empties the cache. Amounts are exact doubles. Balances are bigints,
 * because the network's counts all that was ever issued.
 */
export class Ledger {
  readonly #selectBalance: Database.Statement<[string], bigint>;
  readonly #updateBalance: Database.Statement<[bigint, string]>;
  readonly #insertNote: (txn: number, note: string) => void;
  readonly #selectLastId: Database.Statement<[], number>;
  readonly #insertEntries: (entries: number) => Database.Statement;
  readonly #balances = new Map<LedgerParty, bigint>();
  readonly #changed = new Set<LedgerParty>();
  #lastId: number | null = null;

  constructor(db: Database.Database) {
    this.#selectBalance = db
      .prepare<[string], bigint>("SELECT micro FROM balances WHERE party = ?")
      .pluck()
      .safeIntegers();
    this.#updateBalance = db.prepare("UPDATE balances SET micro = ? WHERE party = ?");
    // Rare, so it is prepared when it is needed.
    this.#insertNote = (txn, note) =>
      void db.prepare("INSERT INTO ledger_notes (txn, note) VALUES (?, ?)").run(txn, note);
    this.#selectLastId = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM entries").pluck();
    this.#insertEntries = rememberByCount((count) =>
      db.prepare(
        `INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms) VALUES ${Array.from({ length: count }, () => "(?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
      ),
    );
  }

  begin(): void {
    this.#balances.clear();
    this.#changed.clear();
    this.#lastId = null;
  }

  /** Call it before the operation writes anything. @throws the refusal of the postings (`refusalOf`). */
  assertAccepts(postings: readonly Posting[]): void {
    const refusal = refusalOf(postings, (party) => this.balanceOf(party));
    if (refusal !== null) throw refusal;
  }

  /** Forgets balances that did not move: a step may have opened their parties, and is taken back. */
  forget(): void {
    for (const party of this.#balances.keys()) if (!this.#changed.has(party)) this.#balances.delete(party);
  }

  /** In micro-credits; undefined for a party that was never opened. */
  balanceOf(party: LedgerParty): bigint | undefined {
    const kept = this.#balances.get(party);
    if (kept !== undefined) return kept;
    const stored = this.#selectBalance.get(party);
    if (stored !== undefined) this.#balances.set(party, stored);
    return stored;
  }

  /**
   * Writes postings as one transaction of the ledger. `subjectId`: the job or batch that they are for. `note`: shown to the account.
   * @throws {Error} for postings that `assertAccepts` refuses. It is a fault, which rolls back what the operation has written.
   */
  post(postings: readonly Posting[], subjectId: string | null, atMs: number, note: string | null = null): void {
    const refusal = refusalOf(postings, (party) => this.balanceOf(party));
    if (refusal !== null) throw new Error(`The ledger refuses postings: ${refusal.message}`, { cause: refusal });
    const moved = postings.filter(({ micro }) => micro !== 0);
    if (moved.length === 0) return;
    this.#lastId ??= this.#selectLastId.get() ?? 0;
    const txn = this.#lastId + 1;
    const values: unknown[] = [];
    for (const { party, micro, kind } of moved) {
      this.#lastId += 1;
      // Subject and time are those of the transaction, whose first entry has them.
      const isFirst = this.#lastId === txn;
      values.push(this.#lastId, txn, party, micro, kind, isFirst ? subjectId : null, isFirst ? atMs : 0);
      this.#add(party, micro);
    }
    this.#insertEntries(moved.length).run(...values);
    if (note !== null) this.#insertNote(txn, note);
  }

  /** Writes the changed balances. The database refuses a negative balance of a client or a hold. */
  flush(): void {
    for (const party of this.#changed) this.#updateBalance.run(this.balanceOf(party) ?? 0n, party);
    this.#changed.clear();
  }

  #add(party: LedgerParty, micro: number): void {
    this.#balances.set(party, (this.balanceOf(party) ?? 0n) + BigInt(micro));
    this.#changed.add(party);
  }
}

function rememberByCount<T>(make: (count: number) => T): (count: number) => T {
  const made = new Map<number, T>();
  return (count) => {
    const found = made.get(count) ?? make(count);
    made.set(count, found);
    return found;
  };
}
