import { join } from "node:path";
import { cacheKeyOf, modelFileSchema, modelKey, type CargoManifest, modelRefSchema } from "../../../shared/cargo.ts";
import { JobFailure, shutdownFailure } from "../../../shared/errors.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../../disk/stored-item.ts";
import type { FetchContext } from "../download/download-attempt.ts";
import { fetchFolderList } from "./fetch-folder-list.ts";
import { chooseFolderFiles, folderLayoutOf, assertSafePaths } from "./folder-files.ts";
import { FolderDownload } from "./folder-download.ts";
import { openFolderLinks, type FolderLinks, type MakeLink } from "./folder-links.ts";
import type { ModelLease } from "../store/model-files.ts";
import type { ModelStore } from "../store/model-store.ts";
import { diskFailure } from "../download/part-file.ts";
import type { DownloadProgress } from "../download/transfer.ts";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { z } from "zod";
import { writeFileDurably } from "../../disk/durable-file.ts";

/** Name of a split model's projector in its folder. */
export const PROJECTOR_NAME = "mmproj.gguf";

/** Returns the name by which llama.cpp finds the parts of a split model, counted from 1. */
export function partName(part: number, parts: number): string {
  const [number, total] = [part, parts].map((count) => String(count).padStart(5, "0"));
  return `model-${number}-of-${total}.gguf`;
}

const fileSchema = z.object({
  path: z.string(),
  ref: z.object({ ...modelRefSchema.shape, url: z.string(), sizeBytes: z.number().int().nonnegative() }),
});
const listSchema = z.object({
  version: z.literal(1),
  /** Layout and key, which determine the choice of files. */
  id: z.string(),
  /** Result of `cacheKeyOf` for the Cargos that use it. */
  key: z.string(),
  files: z.array(fileSchema).min(1),
});

interface FolderStoreOptions {
  /** Keeps the files. Must stay open as long as this store. */
  readonly models: ModelStore;
  /** Directory used only by this store; created when missing. On the same file system as the models. */
  readonly directory: string;
  readonly context: FetchContext;
  readonly hardLink?: MakeLink;
}

interface StoredFolder extends StoredItem {
  /** Whether all files are on disk; `bytes` counts only those that are. */
  readonly isWhole: boolean;
}

interface Folder extends FolderList {
  /** Number of leases and pending calls of `acquire`. */
  users: number;
}

/**
 * Stores models that are folders of files. `ModelStore` keeps the files; a file that several folders contain is stored
 * once. This store keeps the list of files of each folder, and creates a directory of links for each lease.
 */
export class FolderStore {
  readonly #models: ModelStore;
  readonly #context: FetchContext;
  readonly #lists: ReturnType<typeof openFolderLists>;
  readonly #links: FolderLinks;
  readonly #folders = new Map<string, Folder>();
  readonly #downloads = new Set<FolderDownload>();
  /** Deletions in the background; they never reject. */
  readonly #ongoing = new Set<Promise<void>>();
  readonly #end = new AbortController();

  private constructor({ models, directory, context, hardLink }: FolderStoreOptions) {
    this.#models = models;
    this.#context = context;
    this.#lists = openFolderLists(join(directory, "lists"));
    this.#links = openFolderLinks(join(directory, "leases"), hardLink);
  }

  /** Opens the store and removes folders without files. @throws {JobFailure} on a disk error. */
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
   * Leases the folder of a Cargo's model, with every file verified, and downloads missing files.
   * @param cargo a Cargo for which `hasFolderModel` is true, or whose model has parts.
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

  /** Checks that the Cargo's folder would fit, if its files are known. @throws {DiskFullError} */
  assertFits(cargo: CargoManifest): void {
    const folder = splitModelList(cargo) ?? this.#folders.get(idOf(cargo));
    if (folder !== undefined) this.#models.assertFits(sizesOf(folder));
  }

  /** Returns the bytes of the Cargo's folder on disk; null when it is incomplete. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    const folder = this.#folders.get(idOf(cargo));
    if (folder === undefined) return null;
    const { isWhole, bytes } = this.#describe(folder, this.#stored());
    return isWhole ? bytes : null;
  }

  /** Returns the Cargo's part of the budget: files, parts of downloads, and reservations. */
  takenBytes(cargo: CargoManifest): number {
    const folder = this.#folders.get(idOf(cargo));
    return folder === undefined ? 0 : this.#models.takenBytes(new Set(sizesOf(folder).keys()));
  }

  /** Returns the folders that have files or are in use. */
  list(): StoredFolder[] {
    const stored = this.#stored();
    const folders = [...this.#folders.values()].map((folder) => this.#describe(folder, stored));
    return folders.filter(({ bytes, inUse }) => inUse || bytes > 0);
  }

  /** Returns the keys of the files in `ModelStore` that belong to folders. */
  fileKeys(): Set<string> {
    return new Set([...this.#folders.values()].flatMap((folder) => [...sizesOf(folder).keys()]));
  }

  /** Returns one entry for each Cargo that waits for a folder. */
  downloads(): DownloadStatus[] {
    return [...this.#downloads].map(({ slug, key, progress }) => ({ slug, key, ...progress }));
  }

  /** Deletes a folder, except files that other folders also contain. */
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

  /** Removes the folders that are not in use from the store. `ModelStore.prune` then deletes their files. */
  async prune(): Promise<void> {
    for (const { id, users } of [...this.#folders.values()]) if (users === 0) await this.#forget(id);
  }

  /** Stops the downloads and waits for them. Directories of leases that are still held stay until the next `open`. */
  async close(): Promise<void> {
    this.#end.abort(shutdownFailure());
    while (this.#ongoing.size > 0) await Promise.all(this.#ongoing);
  }

  /** Returns the Cargo's folder with one more user. Fetches an unknown list, or one without any files left. */
  async #enter(cargo: CargoManifest, signal: AbortSignal): Promise<Folder> {
    const id = idOf(cargo);
    const known = this.#folders.get(id);
    if (known !== undefined && (known.users > 0 || !this.#isEmpty(known))) {
      known.users += 1;
      return known;
    }
    const list = await this.#fetchList(cargo, signal);
    // If another caller has fetched the list in the meantime, use that list.
    const present = this.#folders.get(id);
    if (present !== undefined && present.users > 0) {
      present.users += 1;
      return present;
    }
    const folder = { ...list, users: 1 };
    this.#folders.set(id, folder);
    try {
      // Stored before the first file, so that an interrupted download resumes with the same version of the folder.
      await this.#lists.write(list);
    } catch (error) {
      folder.users -= 1;
      throw diskFailure(error);
    }
    return folder;
  }

  async #fetchList(cargo: CargoManifest, signal: AbortSignal): Promise<FolderList> {
    const split = splitModelList(cargo);
    if (split !== null) return split;
    if (cargo.model === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} has no model`);
    const files = await fetchFolderList(cargo.model, this.#context, signal);
    return {
      id: idOf(cargo),
      key: keyOf(cargo),
      files: chooseFolderFiles(folderLayoutOf(cargo), cargo.weights ?? null, files),
    };
  }

  async #lease(folder: Folder, download: FolderDownload, signal: AbortSignal, mayEvict: boolean): Promise<ModelLease> {
    const sizes = sizesOf(folder);
    // Refuse before the first byte instead of after most of them.
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
      // Released immediately, because the next download may need the space. The links take no space.
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

/** Returns the id of a folder. It includes the layout, because each layout needs other files of the same folder. */
function idOf(cargo: CargoManifest): string {
  return splitModelList(cargo)?.id ?? `${folderLayoutOf(cargo)} ${keyOf(cargo)}`;
}

/** Returns the files of a Cargo whose model has parts; null for other Cargos. Its manifest lists them. */
function splitModelList(cargo: CargoManifest): FolderList | null {
  const { model, parts, projector } = cargo;
  if (model === null || parts === undefined) return null;
  const first = modelFileSchema.safeParse(model);
  if (!first.success) throw new JobFailure("model_invalid", `The first file of ${cargo.slug} has no hash or size`);
  const files = [first.data, ...parts].map((ref, index) => ({ path: partName(index + 1, parts.length + 1), ref }));
  if (projector !== undefined) files.push({ path: PROJECTOR_NAME, ref: projector });
  return { id: `gguf ${files.map(({ ref }) => ref.sha256).join(" ")}`, key: keyOf(cargo), files };
}

/** Returns the length of each file by its key in `ModelStore`, where files with the same bytes have one key. */
function sizesOf({ files }: FolderList): Map<string, number> {
  return new Map(files.map(({ ref }) => [modelKey(ref), ref.sizeBytes]));
}

function sumOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((sum, each) => sum + each, 0);
}

/** The files of a folder that a Cargo needs, as chosen at the first download. */
type FolderList = Omit<z.infer<typeof listSchema>, "version">;

/** Keeps the lists on disk, one file each, so that a complete folder needs no network. */
function openFolderLists(directory: string) {
  /** Reads all lists. Deletes damaged ones and the temporary files of a crash. */
  async function readAll(): Promise<FolderList[]> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lists: FolderList[] = [];
    for (const name of await readdir(directory)) {
      const list = await read(name);
      if (list === null) await rm(join(directory, name), { recursive: true, force: true });
      else lists.push(list);
    }
    return lists;
  }

  async function write(list: FolderList): Promise<void> {
    await writeFileDurably(pathOf(list.id), JSON.stringify({ version: 1, ...list }));
  }

  async function remove(id: string): Promise<void> {
    await rm(pathOf(id), { force: true });
  }

  async function read(name: string): Promise<FolderList | null> {
    try {
      const parsed = listSchema.parse(JSON.parse(await readFile(join(directory, name), "utf8")));
      assertSafePaths(parsed.files.map(({ path }) => path));
      const { id, key, files } = parsed;
      return pathOf(id) === join(directory, name) ? { id, key, files } : null;
    } catch {
      // A damaged list is fetched again.
      return null;
    }
  }

  function pathOf(id: string): string {
    return join(directory, `${createHash("sha256").update(id).digest("hex")}.json`);
  }

  return { readAll, write, remove };
}
