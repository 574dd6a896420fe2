import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import { CliError } from "../../shared/errors.ts";
import type { ArtifactStore, StoredArtifact } from "./artifact-store.ts";
import type { CargoNames } from "./cargo-names.ts";

/** An artifact on the Island's disk, as shown to its owner. */
export interface ListedArtifact extends StoredArtifact {
  /** Slugs of the Cargos that it was downloaded for, if known. */
  readonly cargos: readonly string[];
  /** Slugs of the Cargos that use it now. */
  readonly usedBy: readonly string[];
}

type UnloadIdle = (isMeant: (cargo: CargoManifest) => boolean) => Promise<unknown>;

/**
 * Lists and deletes artifacts on disk, for the owner.
 * @param users slugs of the Cargos whose files are in use.
 * @param unloadIdle unloads Cargos that no job uses.
 */
export function openStoredFiles(
  stores: readonly ArtifactStore[],
  names: CargoNames,
  users: () => ReadonlySet<string>,
  unloadIdle: UnloadIdle,
) {
  /** Returns the artifacts, the most recently used first. Files of folders are listed as their folders. */
  function list(): ListedArtifact[] {
    const items = stores.flatMap((store) => store.list()).map((item) => describe(item));
    return items.sort((one, other) => other.lastUsedMs - one.lastUsedMs);
  }

  /**
   * Deletes one artifact, and unloads its Cargo if no job uses it.
   * @param name the key, or the slug of a Cargo that it was downloaded for.
   * @returns freed bytes.
   * @throws {CliError} when no artifact has that name, or it is in use.
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

  /** Deletes all artifacts that are not in use. @returns freed bytes. */
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

  /** Returns the bytes on disk, which is not the sum of the list because folders share files. */
  function storedBytes(): number {
    const budgets = new Set(stores.map(({ budget }) => budget));
    return [...budgets].reduce((sum, budget) => sum + budget.storedBytes(), 0);
  }

  return { list, remove, prune };
}

export type StoredFiles = ReturnType<typeof openStoredFiles>;

function inUse(name: string, { usedBy }: ListedArtifact): CliError {
  const who = usedBy.length === 0 ? "a Cargo" : usedBy.join(", ");
  return new CliError(`${name} is in use by a job or download of ${who}. Wait until it ends, then remove ${name}`);
}

function needs(cargo: CargoManifest, key: string): boolean {
  const { adapters = [], projector } = cargo;
  return cacheKeyOf(cargo) === key || [...adapters, projector].some((file) => file?.sha256 === key);
}
