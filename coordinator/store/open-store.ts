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
 * What is damaged, a line for each fault; empty when the store is whole. `ledger`: of a database, whose ledger is checked too. Changes
 * nothing; a coordinator may be running.
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
 * Opens the store, and makes what is missing: directory, database file or tables.
 * @param leaseRenewMs of a coordinator of several: how often it renews its lease.
 * @throws {DatabaseError | MigrationError} that the operator must put right. @throws {ServiceError} `storage_unavailable`
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
    // Loaded here, because a coordinator on SQLite needs none of it.
    const { openPostgresStore } = await import("./postgres/postgres-store.ts");
    const { address, key } = place;
    const ownerId = newId("coord", clock.now());
    return openPostgresStore({ address, clock, ownerId, secrets: new SecretBox(key), leaseRenewMs, onReadOnly });
  }
  await mkdir(place, { recursive: true, mode: 0o700 });
  const path = join(place, DATABASE_FILE);
  return openSqliteStore({ path, clock, onReadOnly, minFreeBytes });
}

/** Whether a coordinator has ever kept data there. */
export async function hasData(place: StoreLocation): Promise<boolean> {
  if (typeof place === "string") return existsSync(join(place, DATABASE_FILE));
  const { isMigrated } = await import("./postgres/engine/migrate.ts");
  return isMigrated(place.address);
}

/** The secrets of a data directory, also of one without a database that can be opened. */
export function secretsOf(dataDirectory: string): SharedSecrets {
  return new FileSecrets(dataDirectory);
}
