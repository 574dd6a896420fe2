import type { Clock } from "../../../shared/clock.ts";
import { withoutPassword } from "../../../shared/without-password.ts";
import { readPostgresMark, refuseMoved } from "../move/move-mark.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { openCommon, pruneAtStart } from "../store.ts";
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
import { toOpeningError } from "./engine/storage-fault.ts";
import { MIGRATIONS } from "./migrations.ts";
import { postgresSecrets } from "./secrets/postgres-secrets.ts";
import { withClient } from "./engine/connection.ts";

interface PostgresStoreOptions extends Pick<DatabaseLocation, "address"> {
  readonly clock: Clock;
  /** Id of this coordinator, generated at each start. */
  readonly ownerId: string;
  /** Encrypts secrets in the database with the key that all coordinators of the network share. */
  readonly secrets: SecretBox;
  /** Called with the reason when the store becomes read-only, and with null when it is writable again. */
  readonly onReadOnly?: ((reason: string | null) => void) | undefined;
  /** Interval of lease renewals, and time limit of each; absent for a store without a lease. */
  readonly leaseRenewMs?: number | undefined;
}

/**
 * Connects to the database, after creating or migrating its tables if needed.
 * @throws {MigrationError} if the database is newer than this program.
 * @throws as {@link toOpeningError}
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { address, clock } = options;
  try {
    await migrate(address, MIGRATIONS, clock.now());
    refuseMoved(withoutPassword(address), await withClient(address, "atoll", readPostgresMark));
  } catch (error) {
    throw toOpeningError(error, address);
  }
  return pruneAtStart(postgresStore(options));
}

export type PostgresStore = ReturnType<typeof postgresStore>;

/** Opens the store on a migrated database. Several coordinators may share it. */
export function postgresStore(options: PostgresStoreOptions) {
  const { address, clock, ownerId, secrets, onReadOnly = () => {}, leaseRenewMs } = options;
  const db = openDatabase(address, clock);
  const writer = batchWriter({ address, ownerId }, clock, (reason) => {
    onReadOnly(reason);
    if (reason === null) cluster.noteReturn();
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
      // Autovacuum reclaims space, and the server's own log is not truncated here.
      canReclaim: true,
      reclaim: async () => false,
      truncateLog: async () => true,
    },
    secrets: postgresSecrets(db, secrets),
    async check(): Promise<void> {
      await db.use((session) => session.run("UPDATE checks SET count = count + 1 WHERE id = 1"));
      common.assertPrunes();
    },
    /** Closes the store. The writer closes first, so that its callers can still read what their responses need. */
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
 * Checks the schema, the secrets and the ledger, without applying migrations; coordinators may be running. Returns one
 * line per fault. PostgreSQL itself detects damaged pages when it reads them (data checksums).
 * @throws {MigrationError} if the database is newer than this program.
 * @throws as {@link toOpeningError}
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
    throw toOpeningError(error, address);
  }
}
