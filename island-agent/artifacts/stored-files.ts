import { cacheKeyOf, modelKey, type CargoManifest } from "../../shared/cargo.ts";
import { CliError } from "../../shared/errors.ts";
import type { ArtifactStore, StoredArtifact } from "./artifact-store.ts";
import type { CargoNames } from "./cargo-names.ts";

/** Something on the Island's disk, as its owner sees it. */
export interface ListedArtifact extends StoredArtifact {
  /** Slugs of the Cargos that it was downloaded for, as far as they are known. */
  readonly cargos: readonly string[];
  /** Those of them that use it now. */
  readonly usedBy: readonly string[];
}

type UnloadIdle = (isMeant: (cargo: CargoManifest) => boolean) => Promise<unknown>;

/**
 * Lists and deletes what is on disk, for the owner.
 * @param users slugs of the Cargos whose files are in use.
 * @param unloadIdle takes Cargos that no job uses out of memory.
 */
export function openStoredFiles(
  stores: readonly ArtifactStore[],
  names: CargoNames,
  users: () => ReadonlySet<string>,
  unloadIdle: UnloadIdle,
) {
  /** The last used first. Files of folders are listed as their folders. */
  function list(): ListedArtifact[] {
    const items = stores.flatMap((store) => store.list()).map((item) => describe(item));
    return items.sort((one, other) => other.lastUsedMs - one.lastUsedMs);
  }

  /**
   * Deletes what is stored under one key, and unloads the Cargo that uses it if no job does.
   * @param name the key, or the slug of a Cargo that it was downloaded for.
   * @returns bytes that this freed.
   * @throws {CliError} when nothing has that name, or it is in use.
   */
  async function remove(name: string): Promise<number> {
    const key = names.keyOf(name) ?? name;
    const items = list().filter((item) => item.key === key);
    const [first] = items;
    if (first === undefined)
      throw new CliError(`No model or image on disk has the name "${name}". List all with: island models ls`);
    if (items.some(({ inUse }) => inUse)) await unloadIdle((cargo) => needs(cargo, key));
    const used = list().find((item) => item.key === key && item.inUse);
    if (used !== undefined) throw inUse(name, used);
    const before = storedBytes();
    const holders = stores.filter((store) => store.list().some((item) => item.key === key));
    for (const store of holders) if ((await store.remove(key)) === "in_use") throw inUse(name, first);
    return before - storedBytes();
  }

  /** Deletes everything that is not in use. @returns bytes that this freed. */
  async function prune(): Promise<number> {
    const before = storedBytes();
    for (const store of stores) await store.prune();
    return before - storedBytes();
  }

  function describe(item: StoredArtifact): ListedArtifact {
    const cargos = names.cargosOf(item.key);
    const usedBy = item.inUse ? users() : new Set<string>();
    return { ...item, cargos, usedBy: cargos.filter((slug) => usedBy.has(slug)) };
  }

  /** Not the sum of the list, because folders share files. */
  function storedBytes(): number {
    const budgets = new Set(stores.map(({ budget }) => budget));
    return [...budgets].reduce((sum, budget) => sum + budget.storedBytes(), 0);
  }

  return { list, remove, prune };
}

export type StoredFiles = ReturnType<typeof openStoredFiles>;

function inUse(name: string, { usedBy }: ListedArtifact): CliError {
  const who = usedBy.length === 0 ? "a Cargo" : usedBy.join(", ");
  return new CliError(`${name} is in use by ${who}, for a job or a download. Remove it after it has ended`);
}

function needs(cargo: CargoManifest, key: string): boolean {
  return cacheKeyOf(cargo) === key || cargo.adapters?.some((adapter) => modelKey(adapter) === key) === true;
}
