import Database from "better-sqlite3";
import { partiesOf, type Posting } from "../../coordinator/credits/postings.ts";
import { verifyLedger, type LedgerReport } from "../../coordinator/store/ledger/ledger.ts";
import { networkOfOne } from "../../coordinator/store/cluster-store.ts";
import { openStores } from "../../coordinator/store/all-steps.ts";
import { migrate } from "../../coordinator/store/sqlite/engine/migrate.ts";
import { sqliteSteps } from "../../coordinator/store/sqlite/sqlite-store.ts";
import { prepareOnce, SqliteTx } from "../../coordinator/store/sqlite/engine/sqlite-tx.ts";
import { transactionRunner, type TransactionRunner } from "../../coordinator/store/sqlite/engine/transaction-runner.ts";
import type { Writer } from "../../coordinator/store/sqlite/engine/writer.ts";
import { unfoldItems, type StoredChunkRow } from "../../coordinator/store/jobs/feed-layout.ts";
import { openBatches } from "../../coordinator/store/jobs/batches.ts";
import { openJobs } from "../../coordinator/store/jobs/jobs.ts";
import type { RunHotWrite } from "../../coordinator/store/jobs/hot-writes.ts";
import { openLedger } from "../../coordinator/store/sqlite/ledger/ledger.ts";
import { MIGRATIONS } from "../../coordinator/store/sqlite/migrations.ts";
import { SecretBox } from "../../coordinator/store/secrets/secret-box.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { openWebhookStore } from "../../coordinator/store/jobs/webhooks.ts";

export type SimulatedStore = Pick<
  Store,
  "accounts" | "batches" | "cluster" | "files" | "islands" | "jobs" | "readOnlyReason" | "webhooks"
>;

/** An entry of the ledger. `subject` is its job or batch. */
export interface Entry {
  readonly subject: string | null;
  readonly party: string;
  readonly micro: number;
  readonly kind: string;
}

/** Tables that the simulated logic writes, with referring tables first. */
const TABLES = [
  ...[
    "ledger_lines",
    "entries",
    "feed_chunks",
    "job_feeds",
    "large_pieces",
    "job_outputs",
    "job_inputs",
    "idempotency_keys",
    "jobs",
  ],
  ...["batches", "islands", "accounts"],
];

/**
 * An SQLite database in memory, with the store's real operations, tables and reads. All seeds of a thread share it. It
 * is emptied between seeds, because preparing the statements takes longer than a seed.
 */
export class SimulatedDatabase {
  readonly runner: TransactionRunner;
  readonly #db = new Database(":memory:");
  readonly #stepStatements = prepareOnce(this.#db);
  readonly #secrets = new SecretBox(Buffer.alloc(32));
  readonly #selectEntries: Database.Statement<[], Entry>;
  readonly #selectHasEnded: Database.Statement<[string], number>;
  readonly #selectChunks: Database.Statement<[string], Pick<StoredChunkRow, "items" | "text">>;
  readonly #selectMayForget: Database.Statement<[{ jobId: string; attempt: number; seq: number }], number>;
  readonly #selectIds: Database.Statement<[], string>;

  constructor() {
    this.#db.pragma("foreign_keys = ON");
    migrate(this.#db, MIGRATIONS, 0);
    // Without this trigger, the append-only ledger can be emptied between seeds.
    this.#db.exec("DROP TRIGGER entries_are_not_deleted");
    this.runner = transactionRunner(this.#db);
    this.#selectEntries = this.#db.prepare(`SELECT first.job_id AS subject, entries.party, entries.micro, entries.kind
       FROM entries JOIN entries AS first ON first.id = entries.txn ORDER BY entries.id`);
    this.#selectHasEnded = this.#db
      .prepare<[string], number>("SELECT completed_at_ms IS NOT NULL FROM jobs WHERE id = ?")
      .pluck();
    this.#selectChunks = this.#db.prepare("SELECT items, text FROM feed_chunks WHERE job_id = ?");
    this.#selectMayForget = this.#db
      .prepare<[{ jobId: string; attempt: number; seq: number }], number>(
        `SELECT completed_at_ms IS NOT NULL OR attempt > @attempt OR state = 'pending' OR EXISTS (
           SELECT 1 FROM feed_chunks WHERE job_id = @jobId AND attempt = @attempt AND seq >= @seq)
         FROM jobs WHERE id = @jobId`,
      )
      .pluck();
    this.#selectIds = this.#db.prepare<[], string>("SELECT id FROM jobs ORDER BY id").pluck();
  }

  /** Returns the store of a coordinator with this writer. */
  open(writer: Writer): SimulatedStore {
    const stores = openStores(sqliteSteps(this.#stepStatements, notForReading, writer));
    const writeHot: RunHotWrite = (_key, kind, args) => writer.run(kind, args);
    return {
      accounts: stores.accounts,
      batches: openBatches(stores.batches, writeHot, this.#secrets),
      cluster: networkOfOne("coord"),
      files: stores.files,
      islands: stores.islands,
      jobs: openJobs(stores.jobs, writeHot, this.#secrets),
      get readOnlyReason() {
        return writer.readOnlyReason;
      },
      webhooks: openWebhookStore(stores.webhooks, this.#secrets),
    };
  }

  /** Returns the number of stored outputs of an unfinished job, or Infinity if its end is stored. */
  storedOutputs(jobId: string): number {
    if (this.#selectHasEnded.get(jobId) !== 0) return Infinity;
    const items = this.#selectChunks.all(jobId).flatMap((row) => unfoldItems(row));
    return items.filter(({ type }) => type !== "status").length;
  }

  /** Returns whether an Island may drop a numbered frame because the frame, or the end of its attempt, is stored. */
  mayForget(jobId: string, attempt: number, seq: number): boolean {
    return this.#selectMayForget.get({ jobId, attempt, seq }) !== 0;
  }

  entries(): Entry[] {
    return this.#selectEntries.all();
  }

  jobIds(): string[] {
    return this.#selectIds.all();
  }

  verifyLedger(): Promise<LedgerReport> {
    return verifyLedger(new SqliteTx(this.#stepStatements, null));
  }

  empty(): void {
    const tables = TABLES.map((table) => `DELETE FROM ${table}`);
    const balances = "DELETE FROM balances WHERE party <> 'network'; UPDATE balances SET micro = 0";
    this.#db.exec(`BEGIN; ${tables.join("; ")}; ${balances}; COMMIT`);
  }

  /** Writes synchronously, unlike a step of a store. */
  addAccount(id: string, postings: readonly Posting[]): void {
    const account = `INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES (@id, @id, @id, '', 0)`;
    this.#db.prepare<object>(account).run({ id });
    const open = this.#db.prepare<object>("INSERT INTO balances (party, micro) VALUES (@party, 0)");
    for (const party of partiesOf(id)) open.run({ party });
    const ledger = openLedger(this.#db);
    ledger.post(postings, null, 0);
    ledger.flush();
  }
}

const refuse = (): Promise<never> => Promise.reject(new Error("The simulation has no thread for this call"));
const notForReading = { run: refuse, runStep: refuse };
