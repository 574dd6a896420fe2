import { hasFolderModel, modelKey, type CargoManifest, type ModelRef } from "../../shared/cargo.ts";
import type { DownloadStatus, RemoveOutcome } from "../disk/stored-item.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import type { FolderStore } from "../models/folders/folder-store.ts";
import type { ModelStore } from "../models/store/model-store.ts";
import type { ArtifactBudget, ArtifactLease, ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/** The adapters for models. Folders come first: a file that belongs to a folder is listed and removed with the folder only. */
export function modelArtifacts(models: ModelStore, folders: FolderStore): readonly ArtifactStore[] {
  const budget: ArtifactBudget = {
    spareBytes: () => {
      const { limitBytes, usedBytes } = models.usage();
      return limitBytes - usedBytes;
    },
    storedBytes: () => [...models.list(), ...models.parts()].reduce((sum, { bytes }) => sum + bytes, 0),
  };
  return [new FolderArtifacts(folders, budget), new FileArtifacts(models, folders, budget)];
}

/** Models that are folders of files. */
class FolderArtifacts implements ArtifactStore {
  readonly budget: ArtifactBudget;
  readonly #folders: FolderStore;

  constructor(folders: FolderStore, budget: ArtifactBudget) {
    this.#folders = folders;
    this.budget = budget;
  }

  keeps(cargo: CargoManifest): boolean {
    return hasFolderModel(cargo);
  }

  acquire(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease> {
    return this.#folders.acquire(cargo, signal, onProgress, mayEvict);
  }

  assertFits(cargo: CargoManifest): void {
    this.#folders.assertFits(cargo);
  }

  bytesOnDisk(cargo: CargoManifest): number | null {
    return this.#folders.bytesOnDisk(cargo);
  }

  takenBytes(cargo: CargoManifest): number {
    return this.#folders.takenBytes(cargo);
  }

  list(): StoredArtifact[] {
    return this.#folders.list().map((folder) => ({ kind: "folder", ...folder }));
  }

  downloads(): DownloadStatus[] {
    return this.#folders.downloads();
  }

  remove(key: string): Promise<RemoveOutcome> {
    return this.#folders.remove(key);
  }

  prune(): Promise<void> {
    return this.#folders.prune();
  }
}

/** Models that are one file, and interrupted downloads of such files. */
class FileArtifacts implements ArtifactStore {
  readonly budget: ArtifactBudget;
  readonly #models: ModelStore;
  readonly #folders: FolderStore;

  constructor(models: ModelStore, folders: FolderStore, budget: ArtifactBudget) {
    this.#models = models;
    this.#folders = folders;
    this.budget = budget;
  }

  keeps(cargo: CargoManifest): boolean {
    return cargo.model !== null && !hasFolderModel(cargo);
  }

  async acquire(
    { slug, model, adapters = [] }: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease> {
    if (model === null) throw new TypeError(`Cargo ${slug} has no model`);
    const leases: Pick<ArtifactLease, "release">[] = [];
    const release = (): void => {
      for (const lease of leases) lease.release();
    };
    const paths: string[] = [];
    try {
      for (const ref of [model, ...adapters]) {
        const lease = await this.#models.acquire(slug, ref, signal, onProgress, mayEvict);
        leases.push(lease);
        paths.push(lease.path);
      }
    } catch (error) {
      release();
      throw error;
    }
    const [path = null, ...adapterPaths] = paths;
    return { path, adapterPaths, release };
  }

  assertFits(cargo: CargoManifest): void {
    this.#models.assertModelsFit(refsOf(cargo));
  }

  /** Of the model and its adapters. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    const stored = new Map(this.#models.list().map(({ key, bytes }) => [key, bytes]));
    const sizes = keysOf(cargo).map((key) => stored.get(key) ?? null);
    return sizes.every((bytes) => bytes !== null) ? sizes.reduce((sum, bytes) => sum + bytes, 0) : null;
  }

  takenBytes(cargo: CargoManifest): number {
    return this.#models.takenBytes(new Set(keysOf(cargo)));
  }

  list(): StoredArtifact[] {
    const inFolders = this.#folders.fileKeys();
    const files = this.#models.list().map((model) => ({ ...model, kind: "file" as const, isWhole: true }));
    const parts = this.#models.parts().map((part) => ({ ...part, kind: "part" as const, isWhole: false }));
    return [...files, ...parts].filter(({ key }) => !inFolders.has(key));
  }

  /** Without the files of folders: a folder is one download. */
  downloads(): DownloadStatus[] {
    const inFolders = new Set(this.#folders.downloads().map(({ slug }) => slug));
    return this.#models.downloads().filter(({ slug }) => !inFolders.has(slug));
  }

  async remove(key: string): Promise<RemoveOutcome> {
    return this.#folders.fileKeys().has(key) ? "absent" : this.#models.remove(key);
  }

  async prune(): Promise<void> {
    await this.#models.prune();
  }
}

function refsOf({ model, adapters = [] }: CargoManifest): ModelRef[] {
  return [...(model === null ? [] : [model]), ...adapters];
}

/** Keys of the files that a Cargo needs. */
function keysOf(cargo: CargoManifest): string[] {
  return refsOf(cargo).map(modelKey);
}
