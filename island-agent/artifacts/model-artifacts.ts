import { join } from "node:path";
import { hasFolderModel, modelKey, type CargoManifest, type ModelRef } from "../../shared/cargo.ts";
import type { DownloadStatus, RemoveOutcome } from "../disk/stored-item.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import { type FolderStore, partName, PROJECTOR_NAME } from "../models/folders/folder-store.ts";
import type { ModelStore } from "../models/store/model-store.ts";
import type { ArtifactBudget, ArtifactLease, ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/** Returns the adapters for models. Folders come first, because their files are listed only with the folder. */
export function modelArtifacts(models: ModelStore, folders: FolderStore): readonly ArtifactStore[] {
  const budget: ArtifactBudget = {
    spareBytes: () => {
      const { limitBytes, usedBytes } = models.usage();
      return limitBytes - usedBytes;
    },
    storedBytes: () => [...models.list(), ...models.parts()].reduce((sum, { bytes }) => sum + bytes, 0),
  };
  return [folderArtifacts(folders, budget), fileArtifacts(models, folders, budget)];
}

function folderArtifacts(folders: FolderStore, budget: ArtifactBudget): ArtifactStore {
  function keeps(cargo: CargoManifest): boolean {
    return isFolder(cargo);
  }

  async function acquire(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease> {
    const lease = await folders.acquire(cargo, signal, onProgress, mayEvict);
    const { parts, projector } = cargo;
    if (parts === undefined) return lease;
    const path = join(lease.path, partName(1, parts.length + 1));
    const projectorPath = projector === undefined ? null : join(lease.path, PROJECTOR_NAME);
    return { path, projectorPath, release: () => lease.release() };
  }

  function assertFits(cargo: CargoManifest): void {
    folders.assertFits(cargo);
  }

  function bytesOnDisk(cargo: CargoManifest): number | null {
    return folders.bytesOnDisk(cargo);
  }

  function takenBytes(cargo: CargoManifest): number {
    return folders.takenBytes(cargo);
  }

  function list(): StoredArtifact[] {
    return folders.list().map((folder) => ({ kind: "folder", ...folder }));
  }

  function downloads(): DownloadStatus[] {
    return folders.downloads();
  }

  function remove(key: string): Promise<RemoveOutcome> {
    return folders.remove(key);
  }

  function prune(): Promise<void> {
    return folders.prune();
  }

  return { budget, keeps, acquire, assertFits, bytesOnDisk, takenBytes, list, downloads, remove, prune };
}

/** Returns the store of single-file models, including their interrupted downloads. */
function fileArtifacts(models: ModelStore, folders: FolderStore, budget: ArtifactBudget): ArtifactStore {
  function keeps(cargo: CargoManifest): boolean {
    return cargo.model !== null && !isFolder(cargo);
  }

  async function acquire(
    { slug, model, projector, adapters = [] }: CargoManifest,
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
      for (const ref of [model, ...adapters, ...(projector === undefined ? [] : [projector])]) {
        const lease = await models.acquire(slug, ref, signal, onProgress, mayEvict);
        leases.push(lease);
        paths.push(lease.path);
      }
    } catch (error) {
      release();
      throw error;
    }
    const [path = null, ...others] = paths;
    const adapterPaths = others.slice(0, adapters.length);
    return { path, adapterPaths, projectorPath: others[adapters.length] ?? null, release };
  }

  function assertFits(cargo: CargoManifest): void {
    models.assertModelsFit(refsOf(cargo));
  }

  function bytesOnDisk(cargo: CargoManifest): number | null {
    const stored = new Map(models.list().map(({ key, bytes }) => [key, bytes]));
    const sizes = keysOf(cargo).map((key) => stored.get(key) ?? null);
    return sizes.every((bytes) => bytes !== null) ? sizes.reduce((sum, bytes) => sum + bytes, 0) : null;
  }

  function takenBytes(cargo: CargoManifest): number {
    return models.takenBytes(new Set(keysOf(cargo)));
  }

  function list(): StoredArtifact[] {
    const inFolders = folders.fileKeys();
    const files = models.list().map((model) => ({ ...model, kind: "file" as const, isWhole: true }));
    const parts = models.parts().map((part) => ({ ...part, kind: "part" as const, isWhole: false }));
    return [...files, ...parts].filter(({ key }) => !inFolders.has(key));
  }

  /** Excludes the files of folders, because a folder is one download. */
  function downloads(): DownloadStatus[] {
    const inFolders = new Set(folders.downloads().map(({ slug }) => slug));
    return models.downloads().filter(({ slug }) => !inFolders.has(slug));
  }

  async function remove(key: string): Promise<RemoveOutcome> {
    return folders.fileKeys().has(key) ? "absent" : models.remove(key);
  }

  async function prune(): Promise<void> {
    await models.prune();
  }

  return { budget, keeps, acquire, assertFits, bytesOnDisk, takenBytes, list, downloads, remove, prune };
}

/** Returns whether the model is a folder of the hub, or has parts, which are loaded from one folder. */
function isFolder(cargo: CargoManifest): boolean {
  return hasFolderModel(cargo) || cargo.parts !== undefined;
}

function refsOf({ model, projector, adapters = [] }: CargoManifest): ModelRef[] {
  return [model, ...adapters, projector].filter((ref) => ref != null);
}

function keysOf(cargo: CargoManifest): string[] {
  return refsOf(cargo).map(modelKey);
}
