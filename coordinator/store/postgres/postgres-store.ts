import type { Clock, Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { openStores, type CommonStores } from "../all-steps.ts";
import { openBatches, type BatchStore } from "../batches.ts";
import type { ClusterStore } from "../cluster-store.ts";
import type { ContentStore } from "../content.ts";
import type { RunHotWrite } from "../hot-writes.ts";
import { openJobs, type JobStore } from "../jobs.ts";
import { PRUNE_EVERY_MS } from "../prune.ts";
import type { SecretBox } from "../secret-box.ts";
import type { SharedSecrets } from "../shared-secrets.ts";
import type { Store } from "../store.ts";
import { unsealing, type WebhookStore } from "../webhooks.ts";
import { PostgresClusterStore } from "./cluster/postgres-cluster-store.ts";
import { postgresSteps } from "./engine/postgres-steps.ts";
import { BatchWriter } from "./engine/batch-writer.ts";
import { Database } from "./engine/database.ts";
import { LeaseConnection } from "./engine/lease-connection.ts";
import { migrate } from "./engine/migrate.ts";
import { assertNotMoved } from "./engine/moved.ts";
import { openingErrorOf } from "./engine/storage-fault.ts";
import { MIGRATIONS } from "./migrations.ts";
import { PostgresSecrets } from "./secrets/postgres-secrets.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  readonly clock: Clock;
  /** Id of this coordinator; another one at each start. */
  readonly ownerId: string;
  /** Seals the secrets in the database; one key for all coordinators of the network. */
  readonly secrets: SecretBox;
  /** Told why the store takes nothing new (the server is away, or read-only), and null when it does again. */
  readonly onReadOnly?: (because: string | null) => void;
  /** A coordinator renews its lease so often: longest time of a renewal. Absent for who has no lease. */
  readonly leaseRenewMs?: number | undefined;
}

/**
 * Connects; makes or migrates the tables first if needed.
 * @throws {MigrationError} if the database is newer than this program. @throws {DatabaseError} if it does not let us in.
 * @throws {ServiceError} `storage_unavailable` while it is away.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { address, clock } = options;
  try {
    await migrate(address, MIGRATIONS, clock.now());
    await assertNotMoved(address);
  } catch (error) {
    throw openingErrorOf(error, address);
  }
  const store = new PostgresStore(options);
  try {
    await store.prune();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A store in a PostgreSQL database, which many coordinators share. */
export class PostgresStore implements Store {
  readonly name = "postgres";
  readonly accounts: CommonStores["accounts"];
  readonly audit: CommonStores["audit"];
  readonly batches: BatchStore;
  readonly catalog: CommonStores["catalog"];
  readonly cluster: ClusterStore;
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
  readonly #db: Database;
  readonly #writer: BatchWriter;
  readonly #lease: LeaseConnection;
  #pruneTimer: Timer | null = null;
  #pruneFault: unknown = null;

  /** The database must be migrated already. */
  constructor(options: PostgresStoreOptions) {
    const { address, clock, ownerId, secrets, onReadOnly = () => {}, leaseRenewMs } = options;
    this.#clock = clock;
    const db = new Database(address, clock, () => {});
    const writer = new BatchWriter({ address, ownerId }, clock, (because) => {
      onReadOnly(because);
      if (because === null) cluster.noteReturn();
    });
    const lease = new LeaseConnection(address, leaseRenewMs);
    const cluster = new PostgresClusterStore(db, writer, lease, ownerId);
    const stores = openStores(postgresSteps(db, ownerId));
    this.#db = db;
    this.#lease = lease;
    this.#writer = writer;
    const writeHot: RunHotWrite = (key, kind, args) => writer.run(key, kind, args);
    this.accounts = stores.accounts;
    this.audit = stores.audit;
    this.batches = openBatches(stores.batches, writeHot, secrets);
    this.catalog = stores.catalog;
    this.cluster = cluster;
    this.content = {
      ...stores.content,
      // PostgreSQL's own vacuum gives space back, and its log is the server's.
      canReclaim: true,
      reclaim: async () => false,
      truncateLog: async () => true,
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
    this.secrets = new PostgresSecrets(db, secrets);
    this.usage = stores.usage;
    this.webhooks = unsealing(stores.webhooks, secrets);
  }

  /** Commits of batches since the store was opened. */
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
    await this.#db.use((session) => session.run("UPDATE checks SET count = count + 1 WHERE id = 1"));
    if (this.#pruneFault !== null) throw new Error("The store's hourly clean-up failed", { cause: this.#pruneFault });
  }

  /** Removes what has expired, now and every hour. */
  async prune(): Promise<void> {
    await this.maintenance.prune(this.#clock.now()).catch((error: unknown) => {
      // It waits for the next hour; the store says itself that it cannot be written.
      if (!(error instanceof ServiceError)) throw error;
    });
    this.#pruneTimer = this.#clock.schedule(PRUNE_EVERY_MS, () => {
      this.prune().catch((error: unknown) => {
        // Reported by the next check(), because no caller waits for this.
        this.#pruneFault = error;
      });
    });
  }

  /** Batches first: what their callers need for an answer may still be read. */
  async close(): Promise<void> {
    this.#pruneTimer?.cancel();
    await this.#writer.close();
    await this.#lease.close();
    await this.#db.close();
  }
}
