import { CargoIslands, type IndexFacts } from "./cargo-islands.ts";
import { fits, type KnownCargo } from "./fit.ts";
import type { OnlineIsland } from "./online-island.ts";
import { workKeyOf, workKindOf } from "./slot-offer.ts";
import type { WorkKind } from "./events.ts";

/** Maximum number of indices. Above it, the least recently used index without waiting jobs is dropped. */
const MAX_INDEXED_CARGOS = 64;

export type IslandIndices = ReturnType<typeof islandIndices>;

/**
 * Indexes the online Islands for each Cargo that is asked for.
 * @param queued Returns the kinds with waiting jobs, whose indices are kept.
 */
export function islandIndices(
  cargoOf: (slug: string) => KnownCargo | undefined,
  islands: ReadonlyMap<string, OnlineIsland>,
  queued: () => Iterable<{ readonly kind: WorkKind }>,
  facts: IndexFacts,
  nowMs: () => number,
) {
  /**
   * Indices of all queued kinds whose Cargo is in the catalog, and of several others. The least recently used is first.
   */
  const indices = new Map<string, CargoIslands>();

  const dropOldest = (): void => {
    const keep = new Set([...queued()].map(({ kind }) => workKeyOf(kind)));
    const oldest = [...indices.keys()].find((key) => !keep.has(key));
    if (oldest !== undefined) indices.delete(oldest);
  };

  return {
    /** Returns the index of a kind; undefined if it was not built. */
    peek: (kind: WorkKind): CargoIslands | undefined => indices.get(workKeyOf(kind)),

    /** Returns the index of a kind, built on first use. Undefined if the catalog does not have the Cargo. */
    of(kind: WorkKind): CargoIslands | undefined {
      const key = workKeyOf(kind);
      let index = indices.get(key);
      if (index === undefined) {
        const cargo = cargoOf(kind.slug);
        if (cargo === undefined) return undefined;
        index = new CargoIslands({ ...cargo, ...workKindOf(kind) }, islands.values(), facts, nowMs());
        if (indices.size >= MAX_INDEXED_CARGOS) dropOldest();
      }
      // The only index stays: a Map that becomes empty allocates a new table.
      if (indices.size > 1) indices.delete(key);
      indices.set(key, index);
      return index;
    },

    /** See `Scheduler.hasIslandFor`. */
    hasFitOutside(kind: WorkKind, avoid: ReadonlySet<string>): boolean {
      const cargo = cargoOf(kind.slug);
      if (cargo === undefined) return false;
      const needs = { ...cargo, ...workKindOf(kind) };
      for (const { id, info } of islands.values()) if (!avoid.has(id) && fits(needs, info) === true) return true;
      return false;
    },

    /** See `CargoIslands.put`. @param slug Updates only the indices of that Cargo. */
    put(island: OnlineIsland, slug?: string): boolean {
      let isWorse = false;
      for (const index of indices.values()) {
        if (slug === undefined || index.cargo.slug === slug) isWorse = index.put(island, nowMs()) || isWorse;
      }
      return isWorse;
    },

    /** Updates the unmeasured Islands of a hardware class after its speed with a Cargo became known. */
    assumeAgain(slug: string, hardwareClass: string | undefined): void {
      for (const index of indices.values()) {
        if (index.cargo.slug === slug) index.assumeAgain(hardwareClass, nowMs());
      }
    },

    reorder(island: OnlineIsland): void {
      for (const index of indices.values()) index.reorder(island, nowMs());
    },

    remove(island: OnlineIsland): void {
      for (const index of indices.values()) index.remove(island);
    },

    forget(slug: string): void {
      for (const [key, { cargo }] of indices) if (cargo.slug === slug) indices.delete(key);
    },
  };
}
