import { join } from "node:path";
import { cacheKeyOf, modelKey, type CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure, shutdownFailure } from "../../../shared/errors.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../../disk/stored-item.ts";
import type { FetchContext } from "../download/attempt.ts";
import { fetchFolderList } from "./fetch-folder-list.ts";
import { chooseFolderFiles, folderLayoutOf } from "./folder-files.ts";
import { FolderDownload } from "./folder-download.ts";
import { FolderLinks, type MakeLink } from "./folder-links.ts";
import { FolderLists, type FolderList } from "./folder-lists.ts";
import type { ModelLease } from "../store/model-files.ts";
import type { ModelStore } from "../store/model-store.ts";
import { diskFailure } from "../download/part-file.ts";
import type { DownloadProgress } from "../download/transfer.ts";

export interface FolderStoreOptions {
  /** Holds the files; open as long as this store is. */
  readonly models: ModelStore;
  /** Belongs to this store alone; made when missing, on the same disk as the models'. */
  readonly directory: string;
  readonly context: FetchContext;
  readonly hardLink?: MakeLink;
}

/** A model's folder on the disk. */
export interface StoredFolder extends StoredItem {
  /** Whether every file is there; `bytes` are those of the files that are. */
  readonly isWhole: boolean;
}

interface Folder extends FolderList {
  /** Leases, and calls of `acquire` that go on. */
  users: number;
}

/**
 * Models of several files. `ModelStore` has the files, each once however many folders have it, and everything that is true of
 * its files is true of these. Here is which of them make a folder, and a directory of links for each lease.
 */
export class FolderStore {
  readonly #models: ModelStore;
  readonly #context: FetchContext;
  readonly #lists: FolderLists;
  readonly #links: FolderLinks;
  readonly #folders = new Map<string, Folder>();
  readonly #downloads = new Set<FolderDownload>();
  /** Work on the disk that nobody waits for; it never rejects. */
  readonly #ongoing = new Set<Promise<void>>();
  readonly #end = new AbortController();

  private constructor({ models, directory, context, hardLink }: FolderStoreOptions) {
    this.#models = models;
    this.#context = context;
    this.#lists = new FolderLists(join(directory, "lists"));
    this.#links = new FolderLinks(join(directory, "leases"), hardLink);
  }

  /** Forgets folders of which no file is left. @throws {JobFailure} when the disk refuses. */
  static async open(options: FolderStoreOptions): Promise<FolderStore> {
    const store = new FolderStore(options);
    try {
      await store.#links.sweep();
      for (const list of await store.#lists.readAll()) store.#folders.set(list.id, { ...list, users: 0 });
      await store.#forgetEmpty();
    } catch (error) {
      throw diskFailure(error);
    }
    return store;
  }

  /**
   * The folder of a Cargo's model, every file of it verified, downloaded as far as they are not there.
   * @param cargo one whose `hasFolderModel` is true.
   * @param mayEvict whether other models may be deleted for it.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void = () => undefined,
    mayEvict = true,
  ): Promise<ModelLease> {
    signal.throwIfAborted();
    if (this.#end.signal.aborted) throw shutdownFailure();
    const ending = AbortSignal.any([signal, this.#end.signal]);
    const download = new FolderDownload(cargo.slug, keyOf(cargo), this.#models, onProgress, mayEvict);
    this.#downloads.add(download);
    try {
      const folder = await this.#enter(cargo, ending);
      try {
        return await this.#lease(folder, download, ending, mayEvict);
      } catch (error) {
        folder.users -= 1;
        throw error;
      }
    } finally {
      this.#downloads.delete(download);
    }
  }

  /** What the Cargo's folder takes on disk; null when it is not there whole. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    const folder = this.#folders.get(idOf(cargo));
    if (folder === undefined) return null;
    const { isWhole, bytes } = this.#describe(folder, this.#stored());
    return isWhole ? bytes : null;
  }

  /** What the budget has for the Cargo's folder already: its files, parts of them, and what their downloads reserve. */
  takenBytes(cargo: CargoManifest): number {
    const folder = this.#folders.get(idOf(cargo));
    return folder === undefined ? 0 : this.#models.takenBytes(new Set(sizesOf(folder).keys()));
  }

  /** Those of which something is there, or that are in use. */
  list(): StoredFolder[] {
    const stored = this.#stored();
    const folders = [...this.#folders.values()].map((folder) => this.#describe(folder, stored));
    return folders.filter(({ bytes, inUse }) => inUse || bytes > 0);
  }

  /** Keys of the files in `ModelStore` that belong to folders. */
  fileKeys(): Set<string> {
    return new Set([...this.#folders.values()].flatMap((folder) => [...sizesOf(folder).keys()]));
  }

  /** One entry for each Cargo that waits for a folder. */
  downloads(): DownloadStatus[] {
    return [...this.#downloads].map(({ slug, key, fraction }) => ({ slug, key, fraction }));
  }

  /** Deletes a folder, but for files that other folders have too. `in_use`: nothing is done. */
  async remove(key: string): Promise<RemoveOutcome> {
    const folders = [...this.#folders.values()].filter((folder) => folder.key === key);
    if (folders.length === 0) return "absent";
    if (folders.some(({ users }) => users > 0)) return "in_use";
    for (const { id } of folders) await this.#forget(id);
    const kept = this.fileKeys();
    const own = new Set(folders.flatMap((folder) => [...sizesOf(folder).keys()]));
    for (const file of own) if (!kept.has(file)) await this.#models.remove(file);
    return "removed";
  }

  /** Forgets the folders that are not in use; their files are `ModelStore.prune`'s to delete. */
  async prune(): Promise<void> {
    for (const { id, users } of [...this.#folders.values()]) if (users === 0) await this.#forget(id);
  }

  /** Ends what goes on and waits for it. Directories of leases that are still held stay until the next `open`. */
  async close(): Promise<void> {
    this.#end.abort(shutdownFailure());
    while (this.#ongoing.size > 0) await Promise.all(this.#ongoing);
  }

  /** The Cargo's folder with one user more. Its list is asked for when it is not known, or nothing is left of it. */
  async #enter(cargo: CargoManifest, signal: AbortSignal): Promise<Folder> {
    const id = idOf(cargo);
    const known = this.#folders.get(id);
    if (known !== undefined && (known.users > 0 || !this.#isEmpty(known))) {
      known.users += 1;
      return known;
    }
    const list = await this.#fetchList(cargo, signal);
    // Somebody else may have asked meanwhile, and begun: there is one list for all.
    const present = this.#folders.get(id);
    if (present !== undefined && present.users > 0) {
      present.users += 1;
      return present;
    }
    const folder = { ...list, users: 1 };
    this.#folders.set(id, folder);
    try {
      // Before the first file: what is broken off goes on with the same version of the folder.
      await this.#lists.write(list);
    } catch (error) {
      folder.users -= 1;
      throw diskFailure(error);
    }
    return folder;
  }

  async #fetchList(cargo: CargoManifest, signal: AbortSignal): Promise<FolderList> {
    if (cargo.model === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no model`);
    const files = await fetchFolderList(cargo.model, this.#context, signal);
    return {
      id: idOf(cargo),
      key: keyOf(cargo),
      files: chooseFolderFiles(folderLayoutOf(cargo), cargo.weights ?? null, files),
    };
  }

  async #lease(folder: Folder, download: FolderDownload, signal: AbortSignal, mayEvict: boolean): Promise<ModelLease> {
    const sizes = sizesOf(folder);
    // Refused before the first byte, and not after most of them.
    if ([...sizes.keys()].some((key) => !this.#models.has(key))) this.#models.assertFits(sizes, mayEvict);
    const files = await download.run(folder.files, signal);
    try {
      const path = await this.#links.make(
        folder.files.map(({ path, ref }) => [path, files.get(modelKey(ref))?.path ?? ""]),
      );
      return { path, key: folder.key, bytes: sumOf(sizes.values()), release: this.#releaseOnce(folder, files, path) };
    } catch (error) {
      for (const lease of files.values()) lease.release();
      throw diskFailure(error);
    }
  }

  #releaseOnce(folder: Folder, files: ReadonlyMap<string, ModelLease>, path: string): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      folder.users -= 1;
      // At once, as whoever comes next may need the room; the links take none.
      for (const lease of files.values()) lease.release();
      this.#track(this.#links.remove(path));
    };
  }

  async #forgetEmpty(): Promise<void> {
    for (const folder of [...this.#folders.values()]) if (this.#isEmpty(folder)) await this.#forget(folder.id);
  }

  async #forget(id: string): Promise<void> {
    this.#folders.delete(id);
    await this.#lists.remove(id);
  }

  #isEmpty(folder: Folder): boolean {
    return ![...sizesOf(folder).keys()].some((key) => this.#models.has(key));
  }

  #stored(): Map<string, StoredItem> {
    return new Map(this.#models.list().map((model) => [model.key, model]));
  }

  #describe(folder: Folder, stored: ReadonlyMap<string, StoredItem>): StoredFolder {
    const sizes = sizesOf(folder);
    const there = [...sizes.keys()].flatMap((key) => stored.get(key) ?? []);
    return {
      key: folder.key,
      bytes: sumOf(there.map(({ bytes }) => bytes)),
      lastUsedMs: Math.max(0, ...there.map(({ lastUsedMs }) => lastUsedMs)),
      inUse: folder.users > 0,
      isWhole: there.length === sizes.size,
    };
  }

  #track(work: Promise<void>): void {
    const ended = work.catch(() => undefined).then(() => void this.#ongoing.delete(ended));
    this.#ongoing.add(ended);
  }
}

function keyOf(cargo: CargoManifest): string {
  return cacheKeyOf(cargo) ?? "";
}

/** The same folder with the same weights may be read in two ways, which are other files. */
function idOf(cargo: CargoManifest): string {
  return `${folderLayoutOf(cargo)} ${keyOf(cargo)}`;
}

/** Length of each file by its key in `ModelStore`: files of the same bytes are one there. */
function sizesOf({ files }: FolderList): Map<string, number> {
  return new Map(files.map(({ ref }) => [modelKey(ref), ref.sizeBytes]));
}

function sumOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((sum, each) => sum + each, 0);
}
