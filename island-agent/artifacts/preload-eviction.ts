import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/**
 * Decides which artifacts preloads may delete: only those that earlier preloads downloaded and no job has used since.
 * After a restart of the agent all artifacts count as used.
 */
export function openPreloadEviction(stores: readonly ArtifactStore[]) {
  /** Slugs by the cache key of their unused preloads; the oldest first. */
  const unused = new Map<string, Set<string>>();
  /** Bytes that were free when a download did not fit, by its cache key. */
  const tooLarge = new Map<string, number>();

  function markPreloaded(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) unused.set(key, (unused.get(key) ?? new Set()).add(cargo.slug));
  }

  /** Records that a job or the owner uses the Cargo: preloads no longer delete it. */
  function markUsed(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) unused.delete(key);
  }

  /** Deletes the bytes of a download that exceeded the budget. Refuses it until more space is free. */
  async function markTooLarge(cargo: CargoManifest): Promise<void> {
    const key = cacheKeyOf(cargo);
    if (key === null) return;
    if (unused.has(key)) await remove(key);
    tooLarge.set(key, spareBytes(cargo));
  }

  /**
   * Deletes as much as the Cargo's download needs, or nothing if that would not be enough.
   * @param mayRemove whether an unused artifact that was preloaded for this slug may be deleted.
   * @returns missing bytes; 0 when the download fits.
   */
  async function freeSpace(cargo: CargoManifest, mayRemove: (slug: string) => boolean): Promise<number> {
    const missing = missingBytes(cargo);
    if (missing === 0) return 0;
    const removable = removableFor(cargo, mayRemove);
    if (removable.reduce((sum, { bytes }) => sum + bytes, 0) < missing) return missing;
    for (const { key } of removable) {
      await remove(key);
      if (missingBytes(cargo) === 0) return 0;
    }
    return missingBytes(cargo);
  }

  function missingBytes(cargo: CargoManifest): number {
    const spare = spareBytes(cargo);
    const before = tooLarge.get(cacheKeyOf(cargo) ?? "") ?? -Infinity;
    if (spare <= before) return before - spare + 1;
    const taken = storeOf(cargo)?.takenBytes(cargo) ?? 0;
    return Math.max(0, neededBytes(cargo) - taken - spare);
  }

  function spareBytes(cargo: CargoManifest): number {
    return storeOf(cargo)?.budget.spareBytes() ?? 0;
  }

  /** Returns unused artifacts of all stores with the Cargo's budget, the oldest preload first. */
  function removableFor(cargo: CargoManifest, mayRemove: (slug: string) => boolean): StoredArtifact[] {
    const budget = storeOf(cargo)?.budget;
    const stored = stores.filter((store) => store.budget === budget).flatMap((store) => store.list());
    const own = cacheKeyOf(cargo);
    return [...unused].flatMap(([key, slugs]) => {
      const isRemovable = key !== own && [...slugs].every(mayRemove);
      return isRemovable ? stored.filter((item) => item.key === key && !item.inUse) : [];
    });
  }

  function storeOf(cargo: CargoManifest): ArtifactStore | undefined {
    return stores.find((store) => store.keeps(cargo));
  }

  async function remove(key: string): Promise<void> {
    unused.delete(key);
    for (const store of stores) if ((await store.remove(key)) !== "absent") return;
  }

  return { markPreloaded, markUsed, markTooLarge, freeSpace };
}

/** Returns the bytes of all files. A download of unknown size may start while any space is free. */
function neededBytes({ model, parts = [], projector, adapters = [] }: CargoManifest): number {
  const files = [model, ...parts, ...adapters, ...(projector === undefined ? [] : [projector])];
  return files.reduce((sum, file) => sum + (file?.sizeBytes ?? 1), 0);
}
