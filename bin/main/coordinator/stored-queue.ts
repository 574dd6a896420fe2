import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { totalVramBytes } from "../../../shared/hardware.ts";
import type { KnownIsland, UnfinishedJobs } from "../../../coordinator/store/accounts/operators.ts";

/** Reason why jobs of a Cargo wait, as far as the store can show. */
type StoredReason =
  | "no_cargo"
  | "no_island_online"
  | "own_islands_only"
  | "no_island_offers_runtime"
  | "no_island_fits"
  | "all_busy";

export interface QueuedCargo {
  readonly file: CargoFile;
  /** The only account whose Islands may run this Cargo, which is not approved; null if all Islands may run it. */
  readonly onlyIslandsOf: string | null;
}

export interface StoredQueueLine {
  readonly slug: string;
  readonly waiting: number;
  readonly running: number;
  /** Time at which the oldest waiting job was submitted; null if no job waits. */
  readonly oldestAtMs: number | null;
  /** Null if no job waits. */
  readonly reason: StoredReason | null;
}

/**
 * Returns the queue by Cargo from the store, most waiting jobs first. The store does not contain the load of Islands,
 * their owners' rules and pauses, or the limits of accounts.
 * @param islands Islands that were seen recently.
 * @param cargoOf returns null for a Cargo that no longer exists or cannot run.
 */
export function storedQueue(
  unfinished: readonly UnfinishedJobs[],
  islands: readonly KnownIsland[],
  cargoOf: (slug: string) => QueuedCargo | null,
): StoredQueueLine[] {
  const slugs = [...new Set(unfinished.map(({ slug }) => slug))];
  const lines = slugs.map((slug): StoredQueueLine => {
    const ofCargo = unfinished.filter((each) => each.slug === slug);
    const waits = ofCargo.filter(({ state }) => state === "pending");
    const count = (rows: readonly UnfinishedJobs[]): number => rows.reduce((sum, { jobs }) => sum + jobs, 0);
    const waiting = count(waits);
    return {
      slug,
      waiting,
      running: count(ofCargo) - waiting,
      oldestAtMs: waits.length === 0 ? null : Math.min(...waits.map(({ oldestAtMs }) => oldestAtMs)),
      reason: waiting === 0 ? null : reasonFor(cargoOf(slug), islands),
    };
  });
  return lines.sort((a, b) => b.waiting - a.waiting || (a.slug < b.slug ? -1 : 1));
}

function reasonFor(cargo: QueuedCargo | null, islands: readonly KnownIsland[]): StoredReason {
  if (cargo === null) return "no_cargo";
  const { file, onlyIslandsOf } = cargo;
  const own = islands.filter(({ accountId }) => onlyIslandsOf === null || accountId === onlyIslandsOf);
  if (own.length === 0) return onlyIslandsOf === null ? "no_island_online" : "own_islands_only";
  const offering = own.filter(({ runtimes }) => runtimes.some(({ type }) => type === file.runtime_type));
  if (offering.length === 0) return "no_island_offers_runtime";
  const fits = ({ hardware }: KnownIsland): boolean =>
    hardware.ramBytes >= file.required_ram_mb * MIB && totalVramBytes(hardware) >= file.required_vram_mb * MIB;
  return offering.some(fits) ? "all_busy" : "no_island_fits";
}
