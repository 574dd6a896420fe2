import { cacheKeyOf, hasFolderModel, type CargoManifest, type ContainerSpec } from "../../shared/cargo.ts";
import type { IslandState } from "../../shared/protocol/from-island.ts";
import type { CargoNames } from "./cargo-names.ts";
import type { FolderStore } from "../models/folders/folder-store.ts";
import type { ModelDownload, ModelStore, StoredModel } from "../models/store/model-store.ts";
import { DiskBudgetExceededError } from "../disk/disk-budget-error.ts";
import { DownloadPriority } from "./download-priority.ts";
import { PreloadEviction } from "./preload-eviction.ts";

/** What a Cargo needs on disk; nothing of it is deleted before `release`, which may be called more than once. */
export interface FilesLease {
  /** The model's file, or its folder; null for a Cargo without one. */
  readonly path: string | null;
  release(): void;
}

/** The images of container Cargos, as far as they are used here. */
export interface CargoImages {
  /** @throws {JobFailure} or `signal.reason`. */
  acquire(
    slug: string,
    spec: ContainerSpec,
    signal: AbortSignal,
    onProgress: () => void,
    mayEvict: boolean,
  ): Promise<{ release(): void }>;
  spareBytes(): number;
  list(): StoredModel[];
  downloads(): ModelDownload[];
  remove(key: string): Promise<"removed" | "in_use" | "absent">;
  prune(): Promise<{ removed: number; freedBytes: number }>;
}

/** Where the kinds of files are kept. */
export interface CargoStores {
  readonly models: ModelStore;
  readonly folders: FolderStore;
  readonly names: CargoNames;
  /** Null on a host that runs no containers. */
  readonly images: CargoImages | null;
}

/** Brings to disk what Cargos need, whatever kind of Cargo, and tells what is there. */
export class CargoFiles {
  readonly #stores: CargoStores;
  readonly #bandwidth = new DownloadPriority();
  readonly #room: PreloadEviction;
  /** Cargos that have or await a lease, each as often as it has one. */
  readonly #users: string[] = [];

  constructor(stores: CargoStores) {
    this.#stores = stores;
    this.#room = new PreloadEviction(stores);
  }

  /** Slugs of the Cargos whose files are in use or on their way. */
  get users(): ReadonlySet<string> {
    return new Set(this.#users);
  }

  /**
   * Everything that a job's Cargo needs, downloaded as far as it is not there. `onProgress` when a download went on.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<FilesLease> {
    this.#room.used(cargo);
    if (this.bytesOnDisk(cargo) !== null) return this.#lease(cargo, signal, onProgress);
    return this.#bandwidth.forJob(() => this.#lease(cargo, signal, onProgress));
  }

  /** Has on disk what the owner wishes, downloading only while no job waits for a download of its own. @throws as `acquire`. */
  async pull(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    this.#room.used(cargo);
    const lease = await this.#bandwidth.whenQuiet((quiet) => this.#lease(cargo, quiet, onProgress), signal);
    lease.release();
  }

  /** As `pull`, but nothing is evicted for it: `makeRoom` comes first. @throws {DiskBudgetExceededError}, or as `acquire`. */
  async preload(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    if (this.bytesOnDisk(cargo) !== null) return;
    this.#room.brings(cargo);
    try {
      const lease = await this.#bandwidth.whenQuiet((quiet) => this.#lease(cargo, quiet, onProgress, false), signal);
      lease.release();
    } catch (error) {
      if (error instanceof DiskBudgetExceededError) await this.#room.isTooLarge(cargo);
      throw error;
    }
  }

  /** @see PreloadEviction.make */
  makeRoom(cargo: CargoManifest, mayRemove: (slug: string) => boolean): Promise<number> {
    return this.#room.make(cargo, mayRemove);
  }

  /** What the Cargo takes on disk; null when it is not there whole. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    const { models, folders, images } = this.#stores;
    const key = cacheKeyOf(cargo);
    if (key === null) return 0;
    if (hasFolderModel(cargo)) return folders.bytesOnDisk(cargo);
    const stored = cargo.model === null ? (images?.list() ?? []) : models.list();
    return stored.find((each) => each.key === key)?.bytes ?? null;
  }

  /** What is on disk whole, by the keys of `cacheKeyOf`; the files of folders are told as folders. */
  cached(): IslandState["cachedModels"] {
    const { models, folders, images } = this.#stores;
    const parts = folders.fileKeys();
    const stored = [
      ...folders.list().filter(({ isWhole }) => isWhole),
      ...models.list().filter(({ key }) => !parts.has(key)),
      ...(images?.list() ?? []),
    ];
    return stored.map(({ key, bytes }) => ({ key, bytes }));
  }

  /** One entry for each Cargo that waits for a download. */
  downloads(): IslandState["downloads"] {
    const { models, folders, images } = this.#stores;
    const whole = folders.downloads();
    // A folder is one download, not its files.
    const slugs = new Set(whole.map(({ slug }) => slug));
    const others = [...models.downloads(), ...(images?.downloads() ?? [])].filter(({ slug }) => !slugs.has(slug));
    return [...whole, ...others].map(({ slug, fraction }) => ({ slug, fraction }));
  }

  async #lease(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: () => void,
    mayEvict = true,
  ): Promise<FilesLease> {
    const { slug } = cargo;
    const key = cacheKeyOf(cargo);
    this.#users.push(slug);
    const leave = (): void => void this.#users.splice(this.#users.indexOf(slug), 1);
    try {
      const lease = await this.#acquire(cargo, signal, onProgress, mayEvict);
      if (key !== null) this.#stores.names.note(slug, key);
      let isHeld = true;
      const releaseOnce = (): void => {
        if (!isHeld) return;
        isHeld = false;
        leave();
        lease.release();
      };
      return { path: lease.path, release: releaseOnce };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #acquire(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: () => void,
    mayEvict: boolean,
  ): Promise<FilesLease> {
    const { models, folders, images } = this.#stores;
    const { slug, model, container } = cargo;
    if (hasFolderModel(cargo)) return folders.acquire(cargo, signal, onProgress, mayEvict);
    if (model !== null) return models.acquire(slug, model, signal, onProgress, mayEvict);
    if (container === undefined || images === null) return { path: null, release: () => undefined };
    const lease = await images.acquire(slug, container, signal, onProgress, mayEvict);
    return { path: null, release: () => lease.release() };
  }
}
