import type { CargoStores } from "./cargo-files.ts";
import { CliError } from "../../shared/errors.ts";
import type { StoredModel } from "../models/store/model-store.ts";

/** Something on the Island's disk, for its owner. */
export interface StoredItem extends StoredModel {
  /** `part`: a download that was broken off and can go on. */
  readonly kind: "file" | "folder" | "image" | "part";
  /** Slugs of the Cargos that it was fetched for, as far as they are remembered. */
  readonly cargos: readonly string[];
  /** Those of them that use it now. */
  readonly usedBy: readonly string[];
  /** Of a folder: whether all its files are there. */
  readonly isWhole: boolean;
}

/** What is on disk, as its owner sees and clears it. */
export class StoredFiles {
  readonly #stores: CargoStores;
  readonly #users: () => ReadonlySet<string>;

  /** @param users slugs of the Cargos whose files are in use. */
  constructor(stores: CargoStores, users: () => ReadonlySet<string>) {
    this.#stores = stores;
    this.#users = users;
  }

  /** The last used first. Files of folders are in their folders. */
  list(): StoredItem[] {
    const { models, folders, images } = this.#stores;
    const inFolders = folders.fileKeys();
    const isAlone = ({ key }: StoredModel): boolean => !inFolders.has(key);
    const items = [
      ...folders.list().map((folder) => this.#describe("folder", folder, folder.isWhole)),
      ...models
        .list()
        .filter(isAlone)
        .map((model) => this.#describe("file", model)),
      ...models
        .parts()
        .filter(isAlone)
        .map((part) => this.#describe("part", part, false)),
      ...(images?.list() ?? []).map((image) => this.#describe("image", image)),
    ];
    return items.sort((one, other) => other.lastUsedMs - one.lastUsedMs);
  }

  /**
   * Deletes one thing.
   * @param name the slug of a Cargo that it was fetched for, or its key.
   * @returns bytes that this freed.
   * @throws {CliError} when there is none of that name, or it is in use.
   */
  async remove(name: string): Promise<number> {
    const key = this.#stores.names.keyOf(name) ?? name;
    const items = this.list().filter((item) => item.key === key);
    if (items.length === 0) throw new CliError(`Nothing on disk is called "${name}": island models ls shows what is`);
    const used = items.find(({ inUse }) => inUse);
    if (used !== undefined) throw inUse(name, used);
    const before = this.#bytes();
    for (const item of items) if ((await this.#remove(item)) === "in_use") throw inUse(name, item);
    return before - this.#bytes();
  }

  /** Deletes all that is not in use. @returns bytes that this freed. */
  async prune(): Promise<number> {
    const { models, folders, images } = this.#stores;
    const before = this.#bytes();
    await folders.prune();
    await models.prune();
    await images?.prune();
    return before - this.#bytes();
  }

  #describe(kind: StoredItem["kind"], { key, bytes, lastUsedMs, inUse }: StoredModel, isWhole = true): StoredItem {
    const cargos = this.#stores.names.cargosOf(key);
    const users = inUse ? this.#users() : new Set<string>();
    return { kind, key, cargos, bytes, lastUsedMs, inUse, usedBy: cargos.filter((slug) => users.has(slug)), isWhole };
  }

  async #remove({ kind, key }: StoredItem): Promise<"removed" | "in_use" | "absent"> {
    const { models, folders, images } = this.#stores;
    if (kind === "folder") return folders.remove(key);
    if (kind === "image") return (await images?.remove(key)) ?? "absent";
    return models.remove(key);
  }

  /** Folders share files, so it is not the sum of the list. */
  #bytes(): number {
    const { models, images } = this.#stores;
    const all = [...models.list(), ...models.parts(), ...(images?.list() ?? [])];
    return all.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

function inUse(name: string, { usedBy }: StoredItem): CliError {
  const who = usedBy.length === 0 ? "a Cargo that is loaded or being fetched" : usedBy.join(", ");
  return new CliError(`${name} is in use by ${who}: it can be removed when no job needs it any more`);
}
