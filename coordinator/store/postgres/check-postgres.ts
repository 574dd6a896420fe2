import type { Clock } from "../../../shared/clock.ts";
import { DatabaseError } from "../database-error.ts";
import type { LedgerReport } from "../ledger/ledger.ts";
import { assertKnown, isBeforeBaseline, type AppliedMigration } from "../steps/migrations.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import type { SecretName } from "../secrets/shared-secrets.ts";
import type { DatabasePlace } from "../store-place.ts";
import { withClient } from "./engine/connection.ts";
import { openingErrorOf } from "./engine/storage-fault.ts";
import { MIGRATIONS } from "./migrations.ts";
import { postgresStore } from "./postgres-store.ts";

const SECRETS: readonly SecretName[] = ["proofs", "signing"];

/**
 * Faults of a database, a line for each, and the state of its ledger. PostgreSQL itself notices damaged pages when it reads them
 * (data checksums). Applies no migration; coordinators may be running.
 * @throws {MigrationError} if the database is newer than this program. @throws as {@link openingErrorOf}
 */
export async function checkPostgres(
  { address, key }: DatabasePlace,
  clock: Clock,
): Promise<{ faults: string[]; ledger: LedgerReport | null }> {
  const applied = await appliedMigrations(address);
  if (isBeforeBaseline(applied, MIGRATIONS, "postgres")) {
    return { faults: ["it is of an earlier version; the next start of a coordinator takes it over"], ledger: null };
  }
  assertKnown(applied, MIGRATIONS);
  if (applied.length < MIGRATIONS.length) {
    const missing = MIGRATIONS.length - applied.length;
    return {
      faults: [`${missing} migrations are missing; the next start of a coordinator applies them`],
      ledger: null,
    };
  }
  await using stack = new AsyncDisposableStack();
  const store = stack.adopt(
    postgresStore({ address, clock, ownerId: "check", secrets: new SecretBox(key) }),
    (opened) => opened.close(),
  );
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
