import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { ServiceError } from "../../../shared/errors.ts";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { openStores, type CommonStores } from "../all-steps.ts";
import type { ContentStore } from "../content.ts";
import { openBatches, type BatchStore } from "../batches.ts";
import type { RunHotWrite } from "../hot-writes.ts";
import { openJobs, type JobStore } from "../jobs.ts";
import { PRUNE_EVERY_MS } from "../prune.ts";
import type { Store } from "../store.ts";
import { unsealing, type WebhookStore } from "../webhooks.ts";
import { DiskSpace } from "./engine/disk-space.ts";
import { openForReading, openForWriting, prepareFile } from "./engine/connection.ts";
import { DatabaseError } from "../database-error.ts";
import { migrate } from "./engine/migrate.ts";
import { assertNotMoved } from "./engine/moved.ts";
import { MIGRATIONS } from "./migrations.ts";
import { FileSecrets } from "../file-secrets.ts";
import { SecretBox } from "../secret-box.ts";
import type { SharedSecrets } from "../shared-secrets.ts";
import { Reader } from "./engine/reader.ts";
import { sqliteSteps } from "./engine/sqlite-steps.ts";
import { PreparedStatements } from "./engine/sqlite-tx.ts";
import { startWriterThread, Writer } from "./engine/writer.ts";

/** Beside the database: the key that its webhook secrets are sealed with. */
export const WEBHOOK_KEY_FILE = "webhooks.key";
/** As `PRAGMA auto_vacuum` says it. */
const INCREMENTAL_VACUUM = 2;

export interface SqliteStoreOptions {
  /** The database file; its folder is made if it is missing. */
  readonly path: string;
  readonly clock: Clock;
  /** Told why the store takes nothing new (a full disk, another process that writes), and null when it does again. */
  readonly onReadOnly?: (because: string | null) => void;
  /** With less free space on its disk the store takes nothing new. Default: it goes on until the disk is full. */
  readonly minFreeBytes?: number;
}

/**
 * Opens the database; creates or migrates it first if needed.
 * @throws {MigrationError} if the database is newer than this program or its migrations were edited.
 * @throws {DatabaseError} if the file is not a SQLite database, is damaged or is not writable. File system errors pass through.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { clock } = options;
  const file = prepareFile(options.path);
  const secrets = await SecretBox.open(join(dirname(file), WEBHOOK_KEY_FILE));
  migrateFile(file, clock.now(), secrets);
  const store = new SqliteStore(file, secrets, options);
  try {
    await store.prune();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function migrateFile(file: string, nowMs: number, secrets: SecretBox): void {
  try {
    using stack = new DisposableStack();
    const db = stack.adopt(openForWriting(file), (opened) => opened.close());
    migrate(db, MIGRATIONS, nowMs);
    assertNotMoved(db, file);
    sealSecretsInClear(db, secrets);
    // What a crash left in the log can be pages that a failed sync never wrote: nothing may be added to them. See docs/reliability.md, "Failing disks".
    db.pragma("wal_checkpoint(PASSIVE)");
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    throw new DatabaseError(file, `cannot be used as the coordinator's database: ${cause.message}`, { cause });
  }
}

/** Seals the secrets that earlier versions stored in clear. An index has only those, so that this costs nothing once it is done. */
function sealSecretsInClear(db: Database.Database, secrets: Pick<SecretBox, "seal">): void {
  const select = db.prepare<[], { id: string; secret: string }>(
    "SELECT id, secret FROM webhooks WHERE secret GLOB 'whsec_*'",
  );
  const update = db.prepare<[string, string]>("UPDATE webhooks SET secret = ? WHERE id = ?");
  const sealAll = db.transaction(() => {
    for (const { id, secret } of select.all()) update.run(secrets.seal(secret), id);
  });
  if (select.get() !== undefined) sealAll.immediate();
}

/** A store in one SQLite file. Writes and pages of long lists run in a thread each; other reads use a connection in this thread. */
export class SqliteStore implements Store {
  readonly name = "sqlite";
  #closed: Promise<void> | null = null;
  readonly accounts: CommonStores["accounts"];
  readonly audit: CommonStores["audit"];
  readonly batches: BatchStore;
  readonly catalog: CommonStores["catalog"];
  readonly cluster = null;
  readonly content: ContentStore;
  readonly conversations: CommonStores["conversations"];
  readonly fileBatches: CommonStores["fileBatches"];
  readonly files: CommonStores["files"];
  readonly hostFigures: CommonStores["hostFigures"];
  readonly islands: CommonStores["islands"];
  readonly jobs: JobStore;
  readonly ledger: CommonStores["ledger"];
  readonly maintenance: CommonStores["maintenance"];
  readonly operators: CommonStores["operators"];
  readonly secrets: SharedSecrets;
  readonly usage: CommonStores["usage"];
  readonly webhooks: WebhookStore;
  readonly #clock: Clock;
  readonly #db: Database.Database;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #diskSpace: DiskSpace | null;
  readonly #selectCount: Database.Statement<[], number>;
  #pruneTimer: Timer | null = null;
  #pruneFault: unknown = null;

  /** The database must be migrated already. */
  constructor(
    file: string,
    secrets: SecretBox,
    { clock, onReadOnly = () => {}, minFreeBytes }: Omit<SqliteStoreOptions, "path">,
  ) {
    this.#clock = clock;
    this.#db = openForReading(file);
    this.#reader = new Reader(file);
    const writer = new Writer(startWriterThread(file), clock, onReadOnly);
    this.#writer = writer;
    const run = sqliteSteps(new PreparedStatements(this.#db), this.#reader, writer);
    const stores = openStores(run);
    const writeHot: RunHotWrite = (_key, kind, args) => writer.run(kind, args);
    this.accounts = stores.accounts;
    this.audit = stores.audit;
    this.batches = openBatches(stores.batches, writeHot, secrets);
    this.catalog = stores.catalog;
    this.content = {
      ...stores.content,
      canReclaim: this.#db.pragma("auto_vacuum", { simple: true }) === INCREMENTAL_VACUUM,
      reclaim: () => writer.run("reclaim", {}),
      truncateLog: () => writer.truncateLog(),
    };
    this.conversations = stores.conversations;
    this.fileBatches = stores.fileBatches;
    this.files = stores.files;
    this.hostFigures = stores.hostFigures;
    this.islands = stores.islands;
    this.jobs = openJobs(stores.jobs, writeHot, secrets);
    this.ledger = stores.ledger;
    this.maintenance = stores.maintenance;
    this.operators = stores.operators;
    this.secrets = new FileSecrets(dirname(file));
    this.usage = stores.usage;
    this.webhooks = unsealing(stores.webhooks, secrets);
    this.#diskSpace =
      minFreeBytes === undefined
        ? null
        : new DiskSpace(dirname(file), minFreeBytes, clock, (because) => writer.setLowSpace(because));
    void this.#diskSpace?.watch();
    this.#selectCount = this.#db.prepare<[], number>("SELECT count FROM checks WHERE id = 1").pluck();
  }

  /** Transactions committed since the store was opened. */
  get commits(): number {
    return this.#writer.commits;
  }

  get queued(): number {
    return this.#writer.queued;
  }

  get readOnlyBecause(): string | null {
    return this.#writer.readOnlyBecause;
  }

  async check(): Promise<void> {
    const written = await this.#writer.run("check", {});
    const read = this.#selectCount.get();
    if (read === undefined || read < written) throw new Error(`The store read ${read} after writing ${written}`);
    if (this.#pruneFault !== null) throw new Error("The store's hourly clean-up failed", { cause: this.#pruneFault });
  }

  /** Removes what has expired, now and every hour. */
  async prune(): Promise<void> {
    await this.maintenance.prune(this.#clock.now()).catch((error: unknown) => {
      // It waits for the next hour; the store says itself that it is read-only.
      if (!(error instanceof ServiceError)) throw error;
    });
    this.#pruneTimer = this.#clock.schedule(PRUNE_EVERY_MS, () => {
      this.prune().catch((error: unknown) => {
        // Reported by the next check(), because no caller waits for this.
        this.#pruneFault = error;
      });
    });
  }

  close(): Promise<void> {
    // Once: its threads may be another store's afterwards.
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#diskSpace?.close();
    this.#pruneTimer?.cancel();
    await this.#writer.drain();
    // Readers first: when the writer closes last, SQLite checkpoints the WAL into the file.
    await this.#reader.close();
    this.#db.close();
    await this.#writer.close();
  }
}
