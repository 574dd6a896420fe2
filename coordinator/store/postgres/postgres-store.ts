import type { Clock } from "../../../shared/clock.ts";
import { withoutPassword } from "../../../shared/without-password.ts";
import { refuseMoved } from "../move/move-mark.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { openCommon, pruned } from "../store.ts";
import { openCluster } from "../cluster-store.ts";
import { runBody } from "../steps/steps.ts";
import { DatabaseError } from "../database-error.ts";
import type { LedgerReport } from "../ledger/ledger.ts";
import { type AppliedMigration, assertKnown, isBeforeBaseline } from "../steps/migrations.ts";
import type { SecretName } from "../secrets/shared-secrets.ts";
import type { DatabaseLocation } from "../store-location.ts";
import { postgresSteps, PostgresTx } from "./engine/postgres-steps.ts";
import { batchWriter } from "./engine/batch-writer.ts";
import { openDatabase } from "./engine/database.ts";
import { leaseConnection } from "./engine/lease-connection.ts";
import { migrate } from "./engine/migrate.ts";
import { readMark } from "./engine/moved.ts";
import { openingErrorOf } from "./engine/storage-fault.ts";
import { MIGRATIONS } from "./migrations.ts";
import { postgresSecrets } from "./secrets/postgres-secrets.ts";
import { withClient } from "./engine/connection.ts";

interface PostgresStoreOptions extends Pick<DatabaseLocation, "address"> {
  readonly clock: Clock;
  /** Id of this coordinator, new at each start. */
  readonly ownerId: string;
  /** Encrypts the secrets in the database; one key for all coordinators of the network. */
  readonly secrets: SecretBox;
  /** Called with the reason when the store becomes read-only, and with null when it is writable again. */
  readonly onReadOnly?: ((because: string | null) => void) | undefined;
  /** Interval in which the lease is renewed, and time limit of a renewal. Absent for a store without a lease. */
  readonly leaseRenewMs?: number | undefined;
}

/**
 * Connects, after creating or migrating the tables if needed.
 * @throws {MigrationError} if the database is newer than this program.
 * @throws as {@link openingErrorOf}
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { address, clock } = options;
  try {
    await migrate(address, MIGRATIONS, clock.now());
    refuseMoved(withoutPassword(address), await withClient(address, "atoll", readMark));
  } catch (error) {
    throw openingErrorOf(error, address);
  }
  return pruned(postgresStore(options));
}

export type PostgresStore = ReturnType<typeof postgresStore>;

/** Opens a migrated database, which several coordinators share. */
export function postgresStore(options: PostgresStoreOptions) {
  const { address, clock, ownerId, secrets, onReadOnly = () => {}, leaseRenewMs } = options;
  const db = openDatabase(address, clock);
  const writer = batchWriter({ address, ownerId }, clock, (because) => {
    onReadOnly(because);
    if (because === null) cluster.noteReturn();
  });
  const lease = leaseConnection(address, leaseRenewMs);
  const run = postgresSteps(db, ownerId);
  const cluster = openCluster(
    ownerId,
    run,
    (_name, step, args) => lease.use((session) => runBody(step, new PostgresTx(session, ownerId), args)),
    (accountId, jobIds, limit) => writer.run(accountId, "takeSlots", { accountId, jobIds, limit }),
  );
  const common = openCommon(run, (key, kind, args) => writer.run(key, kind, args), writer, secrets, clock);

  return Object.assign(common.store, {
    name: "postgres",
    cluster,
    content: {
      ...common.store.content,
      // PostgreSQL's own vacuum reclaims space, and its log belongs to the server.
      canReclaim: true,
      reclaim: async () => false,
      truncateLog: async () => true,
    },
    secrets: postgresSecrets(db, secrets),
    async check(): Promise<void> {
      await db.use((session) => session.run("UPDATE checks SET count = count + 1 WHERE id = 1"));
      common.assertPrunes();
    },
    /** The writer closes first, so that its callers can still read what they need for their responses. */
    async close(): Promise<void> {
      common.stop();
      await writer.close();
      await lease.close();
      await db.close();
    },
  });
}

const SECRETS: readonly SecretName[] = ["proofs", "signing"];

/**
 * Returns one line per fault, and the state of the ledger. PostgreSQL itself detects damaged pages when it reads them
 * (data checksums). Applies no migration; coordinators may be running.
 * @throws {MigrationError} if the database is newer than this program.
 * @throws as {@link openingErrorOf}
 */
export async function checkPostgres(
  { address, key }: DatabaseLocation,
  clock: Clock,
): Promise<{ faults: string[]; ledger: LedgerReport | null }> {
  const applied = await appliedMigrations(address);
  if (isBeforeBaseline(applied, MIGRATIONS, "postgres")) {
    const fault = "the schema is of an earlier version; the next start of a coordinator upgrades it";
    return { faults: [fault], ledger: null };
  }
  assertKnown(applied, MIGRATIONS);
  if (applied.length < MIGRATIONS.length) {
    const missing = MIGRATIONS.length - applied.length;
    const fault = `${missing} migrations are missing; the next start of a coordinator applies them`;
    return { faults: [fault], ledger: null };
  }
  await using stack = new AsyncDisposableStack();
  const options = { address, clock, ownerId: "check", secrets: new SecretBox(key) };
  const store = stack.adopt(postgresStore(options), (opened) => opened.close());
  const faults: string[] = [];
  for (const name of SECRETS) {
    await store.secrets.read(name).catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) throw error;
      faults.push(error.message);
    });
  }
  return { faults, ledger: await store.ledger.verify() };
}

async function appliedMigrations(address: string): Promise<AppliedMigration[]> {
  try {
    const sql = "SELECT version, name, checksum FROM migrations ORDER BY version";
    return await withClient(address, "atoll check", async (client) => (await client.query<AppliedMigration>(sql)).rows);
  } catch (error) {
    throw openingErrorOf(error, address);
  }
}
