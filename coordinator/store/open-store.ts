import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { newId } from "../../shared/ids.ts";
import { FileSecrets } from "./secrets/file-secrets.ts";
import type { LedgerReport } from "./ledger/ledger.ts";
import { SecretBox } from "./secrets/secret-box.ts";
import type { SharedSecrets } from "./secrets/shared-secrets.ts";
import { checkDatabase } from "./sqlite/engine/maintenance.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { StoreLocation } from "./store-location.ts";
import type { Store } from "./store.ts";

export const DATABASE_FILE = "atoll.db";

/**
 * Checks the store and returns one line per fault; none if it is intact. `ledger`: report on a PostgreSQL ledger. Changes nothing; a
 * coordinator may be running.
 */
export async function checkData(
  place: StoreLocation,
  clock: Clock,
): Promise<{ faults: string[]; ledger: LedgerReport | null }> {
  if (typeof place === "string") return { faults: checkDatabase(join(place, DATABASE_FILE)), ledger: null };
  const { checkPostgres } = await import("./postgres/postgres-store.ts");
  return checkPostgres(place, clock);
}

/**
 * Opens the store, and creates a missing directory, database file or tables.
 * @param leaseRenewMs interval in which a coordinator of several renews its lease.
 * @throws {DatabaseError | MigrationError} that the operator must fix.
 * @throws {ServiceError} `storage_unavailable`
 */
export async function openStore(
  place: StoreLocation,
  clock: Clock,
  {
    onReadOnly,
    minFreeBytes,
    leaseRenewMs,
  }: Omit<Parameters<typeof openSqliteStore>[0], "path" | "clock"> & { readonly leaseRenewMs?: number } = {},
): Promise<Store> {
  if (typeof place !== "string") {
    // Loaded lazily, because a coordinator on SQLite does not need it.
    const { openPostgresStore } = await import("./postgres/postgres-store.ts");
    const { address, key } = place;
    const ownerId = newId("coord", clock.now());
    return openPostgresStore({ address, clock, ownerId, secrets: new SecretBox(key), leaseRenewMs, onReadOnly });
  }
  await mkdir(place, { recursive: true, mode: 0o700 });
  const path = join(place, DATABASE_FILE);
  return openSqliteStore({ path, clock, onReadOnly, minFreeBytes });
}

/** Returns whether a coordinator has ever stored data there. */
export async function hasData(place: StoreLocation): Promise<boolean> {
  if (typeof place === "string") return existsSync(join(place, DATABASE_FILE));
  const { isMigrated } = await import("./postgres/engine/migrate.ts");
  return isMigrated(place.address);
}

/** Returns the secrets of a data directory, even if its database is missing or cannot be opened. */
export function secretsOf(dataDirectory: string): SharedSecrets {
  return new FileSecrets(dataDirectory);
}
