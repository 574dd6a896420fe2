import { cacheKeyOf } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { engineModelFor, fits } from "../scheduler/fit.ts";
import type { IslandRegistry, ReportedIsland } from "./island-registry.ts";

/** Numbers of connected Islands that may run a Cargo. Each coordinator counts at most {@link MAX_COUNTED}. */
export interface AvailableCargo {
  readonly slug: string;
  readonly islands: number;
  /** Number of Islands that have the model or image of the Cargo or do not need one. */
  readonly ready: number;
  readonly free: number;
}

export interface Availability {
  /** Cargos that at least one Island may run. */
  readonly cargos: readonly AvailableCargo[];
  readonly isComplete: boolean;
}

export const MAX_COUNTED = 100;
/** Cache time of an account's result, and of the count of public Cargos, which all accounts share. */
const CACHE_MS = 5_000;
const MAX_REMEMBERED = 1_000;

export type CargoAvailability = ReturnType<typeof cargoAvailability>;

/**
 * Counts the Islands of all coordinators that can run each Cargo of an account's catalog.
 * @param askOthers Returns the counts of other coordinators; undefined for each that does not reply.
 */
export function cargoAvailability(
  clock: Pick<Clock, "monotonicMs">,
  islands: Pick<IslandRegistry, "connected">,
  catalog: Pick<Catalog, "list">,
  askOthers: (accountId: string) => Promise<readonly (readonly AvailableCargo[] | undefined)[]>,
) {
  let publicCount: { readonly atMs: number; readonly cargos: readonly AvailableCargo[] } | null = null;
  const latest = recentMap<{ readonly atMs: number; readonly result: Promise<Availability> }>(MAX_REMEMBERED);

  const countAll = (cargos: readonly CatalogEntry[]): AvailableCargo[] => {
    if (cargos.length === 0) return [];
    const connected = [...islands.connected()];
    const largest = { ram: 0, vram: 0, runtimes: new Set<string>() };
    for (const { facts } of connected) {
      largest.ram = Math.max(largest.ram, facts.ramBytes);
      largest.vram = Math.max(largest.vram, facts.vramBytes);
      for (const runtime of facts.runtimes) largest.runtimes.add(runtime);
    }
    // Skip Cargos that are too large for every Island.
    const candidates = cargos.filter(
      ({ runtimeType, requiredRamBytes, requiredVramBytes }) =>
        largest.runtimes.has(runtimeType) && requiredRamBytes <= largest.ram && requiredVramBytes <= largest.vram,
    );
    return candidates.map((cargo) => countIslands(cargo, connected)).filter(({ islands: count }) => count > 0);
  };

  /** Counts the Islands of this coordinator that can run each Cargo of the account's catalog. */
  const here = (accountId: string): AvailableCargo[] => {
    const nowMs = clock.monotonicMs();
    if (publicCount === null || nowMs - publicCount.atMs >= CACHE_MS) {
      publicCount = { atMs: nowMs, cargos: countAll(catalog.list()) };
    }
    const own = catalog.list({}, accountId).filter(({ privateTo }) => privateTo === accountId);
    return [...publicCount.cargos, ...countAll(own)];
  };

  const read = async (accountId: string): Promise<Availability> => {
    const others = await askOthers(accountId);
    const replies = others.filter((cargos) => cargos !== undefined);
    const sums = new Map<string, AvailableCargo>();
    for (const cargo of [here(accountId), ...replies].flat()) {
      const { slug, islands: count = 0, ready = 0, free = 0 } = sums.get(cargo.slug) ?? { slug: cargo.slug };
      sums.set(slug, { slug, islands: count + cargo.islands, ready: ready + cargo.ready, free: free + cargo.free });
    }
    const cargos = [...sums.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    return { cargos, isComplete: replies.length === others.length };
  };

  return {
    here,

    /** Returns the available Cargos of an account; the result is at most 5 s old. */
    of(accountId: string): Promise<Availability> {
      const atMs = clock.monotonicMs();
      const last = latest.get(accountId);
      if (last !== undefined && atMs - last.atMs < CACHE_MS) return last.result;
      const result = read(accountId);
      latest.set(accountId, { atMs, result });
      result.catch(() => latest.delete(accountId));
      return result;
    },
  };
}

function countIslands(cargo: CatalogEntry, connected: readonly ReportedIsland[]): AvailableCargo {
  const needs = { ...cargo, onlyIslandsOf: cargo.privateTo ?? null };
  const cacheKey = cacheKeyOf(cargo);
  let [islands, ready, free] = [0, 0, 0];
  for (const { island, facts } of connected) {
    if (islands >= MAX_COUNTED) break;
    if (fits(needs, facts) !== true) continue;
    islands += 1;
    if (cacheKey === null || facts.cachedModels.includes(cacheKey) || engineModelFor(cargo, facts)) ready += 1;
    if (island.slotsInUse < facts.slots) free += 1;
  }
  return { slug: cargo.slug, islands, ready, free };
}
