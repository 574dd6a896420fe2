import { CargoIslands } from "./cargo-islands.ts";
import { fits, type KnownCargo } from "./fit.ts";
import type { OnlineIsland } from "./online-island.ts";
import { workKeyOf, workKindOf, type WorkKind } from "./slot-offer.ts";

/** Above this number, the least recently used one without waiting jobs is dropped. */
const MAX_INDEXED_CARGOS = 64;

export type IslandIndices = ReturnType<typeof islandIndices>;

/** Indexes the online Islands for each Cargo that is asked for. */
export function islandIndices(
  cargoOf: (slug: string) => KnownCargo | undefined,
  islands: ReadonlyMap<string, OnlineIsland>,
) {
  /** Indices of every queued kind whose Cargo the catalog has, and of some others. The least recently used is first. */
  const indices = new Map<string, CargoIslands>();

  const dropOldest = (keep: ReadonlySet<string>): void => {
    for (const key of indices.keys()) {
      if (keep.has(key)) continue;
      indices.delete(key);
      return;
    }
  };

  return {
    /** Returns undefined if the index was not built. */
    peek: (kind: WorkKind): CargoIslands | undefined => indices.get(workKeyOf(kind)),

    /**
     * Returns the index, built on first use. Undefined if the catalog does not have the Cargo.
     * @param queued Kinds with waiting jobs: their indices are kept.
     */
    of(kind: WorkKind, queued: () => Iterable<{ readonly kind: WorkKind }>): CargoIslands | undefined {
      const key = workKeyOf(kind);
      let index = indices.get(key);
      if (index === undefined) {
        const cargo = cargoOf(kind.slug);
        if (cargo === undefined) return undefined;
        index = new CargoIslands({ ...cargo, ...workKindOf(kind) }, islands.values());
        if (indices.size >= MAX_INDEXED_CARGOS) dropOldest(new Set([...queued()].map((each) => workKeyOf(each.kind))));
      }
      indices.delete(key);
      indices.set(key, index);
      return index;
    },

    /** See `Scheduler.hasIslandFor`. */
    hasFitOutside(kind: WorkKind, avoid: ReadonlySet<string>): boolean {
      const cargo = cargoOf(kind.slug);
      if (cargo === undefined) return false;
      for (const { id, info } of islands.values()) {
        if (!avoid.has(id) && fits({ ...cargo, ...workKindOf(kind) }, info) === true) return true;
      }
      return false;
    },

    /**
     * Adds or updates an Island. Returns true if jobs of some Cargo now have one Island fewer to wait for.
     * @param slug Updates only the indices of that Cargo.
     */
    put(island: OnlineIsland, slug?: string): boolean {
      let isWorse = false;
      for (const index of indices.values()) {
        if (slug === undefined || index.cargo.slug === slug) isWorse = index.put(island) || isWorse;
      }
      return isWorse;
    },

    /** See `CargoIslands.improve`. */
    improve(island: OnlineIsland): void {
      for (const index of indices.values()) index.improve(island);
    },

    remove(island: OnlineIsland): void {
      for (const index of indices.values()) index.remove(island);
    },

    forget(slug: string): void {
      for (const [key, { cargo }] of indices) if (cargo.slug === slug) indices.delete(key);
    },
  };
}
