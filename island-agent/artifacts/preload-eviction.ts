import { cacheKeyOf, hasFolderModel, type CargoManifest } from "../../shared/cargo.ts";
import type { CargoStores } from "./cargo-files.ts";
import type { StoredModel } from "../models/store/model-store.ts";

/**
 * The room that preloads may take: what the budget leaves, and what preloads brought that no job has used since. After a
 * restart of the agent all that is on disk counts as used.
 */
export class PreloadEviction {
  readonly #stores: CargoStores;
  /** Cache keys of what preloads brought, with the Cargos it was for; the oldest first. */
  readonly #unused = new Map<string, Set<string>>();
  /** Of what turned out not to fit: the bytes that were spare then. */
  readonly #tooLarge = new Map<string, number>();

  constructor(stores: CargoStores) {
    this.#stores = stores;
  }

  /** A preload of it begins. */
  brings(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) this.#unused.set(key, (this.#unused.get(key) ?? new Set()).add(cargo.slug));
  }

  /** A job needs it, or the owner wants it: no preload deletes it any more. */
  used(cargo: CargoManifest): void {
    const key = cacheKeyOf(cargo);
    if (key !== null) this.#unused.delete(key);
  }

  /** It did not fit, which its download told: what has come of it goes, and it is not tried again in the same room. */
  async isTooLarge(cargo: CargoManifest): Promise<void> {
    const key = cacheKeyOf(cargo);
    if (key === null) return;
    if (this.#unused.has(key)) await this.#remove(key);
    this.#tooLarge.set(key, this.#spareBytes(cargo));
  }

  /**
   * Deletes what it takes to fetch a Cargo's files, and nothing when that would not do.
   * @param mayRemove whether what was brought for a Cargo, and not used since, may go.
   * @returns bytes that are missing; 0 when there is room.
   */
  async make(cargo: CargoManifest, mayRemove: (slug: string) => boolean): Promise<number> {
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
    // Of unknown size: it may begin while there is room at all.
    return Math.max(0, (cargo.model?.sizeBytes ?? 1) - this.#takenBytes(cargo) - spare);
  }

  #spareBytes({ model }: CargoManifest): number {
    const { models, images } = this.#stores;
    if (model === null) return images?.spareBytes() ?? 0;
    const { budgetBytes, usedBytes } = models.usage();
    return budgetBytes - usedBytes;
  }

  /** What a download that goes on or was broken off takes of the budget already. */
  #takenBytes(cargo: CargoManifest): number {
    const { models, folders } = this.#stores;
    return hasFolderModel(cargo) ? folders.takenBytes(cargo) : models.takenBytes(new Set([cacheKeyOf(cargo) ?? ""]));
  }

  #removable(cargo: CargoManifest, mayRemove: (slug: string) => boolean): StoredModel[] {
    const { models, folders, images } = this.#stores;
    const inFolders = folders.fileKeys();
    const stored =
      cargo.model === null
        ? (images?.list() ?? [])
        : [...folders.list(), ...[...models.list(), ...models.parts()].filter(({ key }) => !inFolders.has(key))];
    const own = cacheKeyOf(cargo);
    return [...this.#unused].flatMap(([key, slugs]) => {
      const mayGo = key !== own && [...slugs].every(mayRemove);
      return mayGo ? stored.filter((item) => item.key === key && !item.inUse) : [];
    });
  }

  async #remove(key: string): Promise<void> {
    this.#unused.delete(key);
    const { models, folders, images } = this.#stores;
    const isFile = !folders.fileKeys().has(key);
    if ((await folders.remove(key)) !== "absent") return;
    if (isFile && (await models.remove(key)) !== "absent") return;
    await images?.remove(key);
  }
}
