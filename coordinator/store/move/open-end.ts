import { join } from "node:path";
import type { Clock } from "../../../shared/clock.ts";
import { SqliteEnd } from "./sqlite-end.ts";
import type { DataEnd } from "./data-end.ts";
import { DATABASE_FILE } from "../open-store.ts";
import type { StorePlace } from "../store-place.ts";

/**
 * Opens a data directory or a database for a move of all data, and makes what is missing. It is closed by its owner.
 * @throws {DatabaseError} while it is in use.
 */
export async function openEnd(place: StorePlace, clock: Clock): Promise<DataEnd> {
  if (typeof place === "string") return SqliteEnd.open(join(place, DATABASE_FILE), clock.now());
  const { PostgresEnd } = await import("./postgres-end.ts");
  return PostgresEnd.open(place, clock);
}
