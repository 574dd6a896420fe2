import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { newId } from "../../shared/ids.ts";
import type { LedgerReport } from "./ledger/ledger.ts";
import { SecretBox } from "./secrets/secret-box.ts";
import { checkDatabase } from "./sqlite/engine/maintenance.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { StoreLocation } from "./store-location.ts";
import type { Store } from "./store.ts";

export const DATABASE_FILE = "atoll.db";

/** Checks the data while a coordinator may be running. Returns one line per fault; `ledger` is null for SQLite. */
export async function checkData(
  location: StoreLocation,
  clock: Clock,
): Promise<{ faults: string[]; ledger: LedgerReport | null }> {
  if (typeof location === "string") return { faults: checkDatabase(join(location, DATABASE_FILE)), ledger: null };
  const { checkPostgres } = await import("./postgres/postgres-store.ts");
  return checkPostgres(location, clock);
}

/**
 * Opens the store and creates a missing directory, database file or table.
 * @throws {DatabaseError | MigrationError} for a fault that the operator must fix.
 * @throws {ServiceError} `storage_unavailable` for a temporary fault.
 */
export async function openStore(
  location: StoreLocation,
  clock: Clock,
  options: Omit<Parameters<typeof openSqliteStore>[0], "path" | "clock"> & { readonly leaseRenewMs?: number } = {},
): Promise<Store> {
  if (typeof location !== "string") {
    // Loaded only when needed: a coordinator on SQLite does not use PostgreSQL.
    const { openPostgresStore } = await import("./postgres/postgres-store.ts");
    const { address, key } = location;
    const { onReadOnly, leaseRenewMs } = options;
    const ownerId = newId("coord", clock.now());
    return openPostgresStore({ address, clock, ownerId, secrets: new SecretBox(key), leaseRenewMs, onReadOnly });
  }
  await mkdir(location, { recursive: true, mode: 0o700 });
  return openSqliteStore({ ...options, path: join(location, DATABASE_FILE), clock });
}

/** Returns whether a coordinator has ever stored data at this location. */
export async function hasData(location: StoreLocation): Promise<boolean> {
  if (typeof location === "string") return existsSync(join(location, DATABASE_FILE));
  const { isMigrated } = await import("./postgres/engine/migrate.ts");
  return isMigrated(location.address);
}
