import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/**
 * Decides what preloads may delete: only what earlier preloads downloaded and no job has used since. After a restart of the
 * agent everything on disk counts as used.
 */
export class PreloadEviction {
  readonly #stores: readonly ArtifactStore[];
  /** Slugs by the cache key of their unused preloads; the oldest first. */
  readonly #unused = new Map<string, Set<string>>();
  /** Bytes that were spare when a download did not fit, by its cache key. */
  readonly #tooLarge = new Map<string, number>();

  constructor(stores: readonly ArtifactStore[]) {
    this.#stores = stores;
  }

  /** A preload of the Cargo begins. */
  markPreloaded(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) this.#unused.set(key, (this.#unused.get(key) ?? new Set()).add(cargo.slug));
  }

  /** A job or the owner needs the Cargo: preloads no longer delete it. */
  markUsed(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) this.#unused.delete(key);
  }

  /** The download exceeded the budget: deletes what it left, and refuses further tries until more space is free. */
  async markTooLarge(cargo: CargoManifest): Promise<void> {
    const key = cacheKeyOf(cargo);
    if (key === null) return;
    if (this.#unused.has(key)) await this.#remove(key);
    this.#tooLarge.set(key, this.#spareBytes(cargo));
  }

  /**
   * Deletes as much as the Cargo's download needs, or nothing when that would not be enough.
   * @param mayRemove whether an unused artifact that was preloaded for this slug may be deleted.
   * @returns bytes that are missing; 0 when there is room.
   */
  async makeRoom(cargo: CargoManifest, mayRemove: (slug: string) => boolean): Promise<number> {
    const missing = this.#missingBytes(cargo);
    if (missing === 0) return 0;
    const removable = this.#removable(cargo, mayRemove);
    if (removable.reduce((sum, { bytes }) => sum + bytes, 0) < missing) return missing;
    for (const { key } of removable) {
      await this.#remove(key);
      if (this.#missingBytes(cargo) === 0) return 0;
    }
    return this.#missingBytes(cargo);
  }

  #missingBytes(cargo: CargoManifest): number {
    const spare = this.#spareBytes(cargo);
    const before = this.#tooLarge.get(cacheKeyOf(cargo) ?? "") ?? -Infinity;
    if (spare <= before) return before - spare + 1;
    const taken = this.#storeOf(cargo)?.takenBytes(cargo) ?? 0;
    return Math.max(0, neededBytes(cargo) - taken - spare);
  }

  #spareBytes(cargo: CargoManifest): number {
    return this.#storeOf(cargo)?.budget.spareBytes() ?? 0;
  }

  /** Unused artifacts of all stores that share the Cargo's budget, the oldest preload first. */
  #removable(cargo: CargoManifest, mayRemove: (slug: string) => boolean): StoredArtifact[] {
    const budget = this.#storeOf(cargo)?.budget;
    const stored = this.#stores.filter((store) => store.budget === budget).flatMap((store) => store.list());
    const own = cacheKeyOf(cargo);
    return [...this.#unused].flatMap(([key, slugs]) => {
      const mayGo = key !== own && [...slugs].every(mayRemove);
      return mayGo ? stored.filter((item) => item.key === key && !item.inUse) : [];
    });
  }

  #storeOf(cargo: CargoManifest): ArtifactStore | undefined {
    return this.#stores.find((store) => store.keeps(cargo));
  }

  async #remove(key: string): Promise<void> {
    this.#unused.delete(key);
    for (const store of this.#stores) if ((await store.remove(key)) !== "absent") return;
  }
}

/** Of the model and its adapters. A download of unknown size may begin while any space is free. */
function neededBytes({ model, adapters = [] }: CargoManifest): number {
  return [model, ...adapters].reduce((sum, file) => sum + (file?.sizeBytes ?? 1), 0);
}
