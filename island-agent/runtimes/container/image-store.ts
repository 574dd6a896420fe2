import { imageReference, type ContainerSpec } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { shutdownFailure } from "../../../shared/errors.ts";
import { recentMap } from "../../../shared/recent-map.ts";
import { chooseEvictions } from "../../disk/eviction.ts";
import { IndexFileWriter, readIndexFile } from "../../disk/index-file.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../../disk/stored-item.ts";
import { lowDiskError } from "../../disk/disk-budget.ts";
import { DiskFullError } from "../../disk/disk-full-error.ts";
import { freeBytesOn } from "../../disk/free-bytes.ts";
import type { SharedDownload } from "../../models/download/shared-download.ts";
import { SharedDownloads } from "../../models/download/shared-downloads.ts";
import type { DownloadProgress } from "../../models/download/transfer.ts";
import { AllowedRegistries } from "../../config/allowed-registries.ts";
import type { ContainerEngine, EngineImage } from "./engine.ts";
import { startFailureOf } from "./engine-failure.ts";
import { engineReference, pullImage } from "./pull-image.ts";
import { join } from "node:path";
import { z } from "zod";

const INDEX_FILE = "images.json";
const indexedImageSchema = z.object({
  /** Result of `imageReference()`. */
  key: z.string().min(1).max(2_000),
  /** Name of the image in the engine. */
  reference: z.string().min(1).max(2_000),
  bytes: z.number().int().nonnegative(),
  lastUsedMs: z.number().nonnegative(),
});
const indexSchema = z.object({ version: z.literal(1), images: z.array(indexedImageSchema) });

export interface ImageStoreOptions {
  /** Folder for the list of images that this Island pulled; created when missing. The engine keeps the images. */
  readonly directory: string;
  /** Disk limit of pulled images, unpacked; images in use may exceed it. */
  readonly budgetBytes: number;
  /** Bytes of the engine's disk that pulls leave free. */
  readonly minFreeBytes: number;
  /** `host` or `host/path`; see {@link AllowedRegistries}. */
  readonly allowedRegistries: readonly string[];
  /** @throws {JobFailure} when no engine was found. */
  readonly findEngine: (signal: AbortSignal) => Promise<ContainerEngine>;
  readonly clock: Clock;
  /** Maximum silence of the engine during a pull; unpacking a large layer is silent. */
  readonly stallMs?: number;
}

/** An image that the store does not remove before `release`, which may be called more than once. */
export interface ImageLease {
  readonly key: string;
  readonly image: EngineImage;
  release(): void;
}

const DEFAULT_STALL_MS = 300_000;
const MAX_ANNOUNCED = 1_000;

interface HeldImage extends Omit<IndexedImage, "lastUsedMs"> {
  lastUsedMs: number;
  leases: number;
}

/**
 * Manages the images that this Island pulled, like `ModelStore` does for models. Images that the engine already had
 * belong to the owner: they are used, but neither listed nor removed.
 */
export class ImageStore {
  readonly #options: Required<ImageStoreOptions>;
  readonly #registries: AllowedRegistries;
  readonly #index: IndexFileWriter;
  readonly #images = new Map<string, HeldImage>();
  readonly #downloads = new SharedDownloads<ImageLease>();
  /** Minimum size of images that did not fit, by key. */
  readonly #announcedBytes = recentMap<number>(MAX_ANNOUNCED);
  /** Folder of the engine's images; null while unknown, and for an engine on another machine. */
  #directory: string | null = null;
  #isClosed = false;

  private constructor(options: ImageStoreOptions, found: readonly IndexedImage[]) {
    this.#options = { stallMs: DEFAULT_STALL_MS, ...options };
    this.#registries = new AllowedRegistries(options.allowedRegistries);
    this.#index = imageIndexWriter(options.directory, () => this.#indexed());
    for (const image of found) this.#images.set(image.key, { ...image, leases: 0 });
  }

  /** Opens the store without an engine. @throws {TypeError} for an invalid registry name. */
  static async open(options: ImageStoreOptions): Promise<ImageStore> {
    return new ImageStore(options, await readImageIndex(options.directory));
  }

  /**
   * Returns the image, and pulls it if the engine does not have it. Concurrent calls share one pull. Aborting one call
   * leaves the pull to the other calls.
   * @param slug Cargo that needs the image, as reported by `downloads()`.
   * @param mayEvict whether other images may be removed for it; if not, an image that proves too large is removed.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(
    slug: string,
    spec: ContainerSpec,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void = () => undefined,
    mayEvict = true,
  ): Promise<ImageLease> {
    signal.throwIfAborted();
    if (this.#isClosed) throw shutdownFailure();
    this.#registries.check(spec.image);
    const key = imageReference(spec);
    const engine = await this.#options.findEngine(signal);
    const found = await this.#ask(engine, spec);
    signal.throwIfAborted();
    if (this.#isClosed) throw shutdownFailure();
    if (found !== null) return this.#lease(key, found);
    const download = this.#downloads.joinOrStart(key, (shared) => this.#pull(shared, spec, engine));
    return download.join(slug, signal, onProgress, mayEvict);
  }

  list(): StoredItem[] {
    return [...this.#images.values()].map(({ key, bytes, lastUsedMs, leases }) => {
      return { key, bytes, lastUsedMs, inUse: leases > 0 };
    });
  }

  /** Returns the bytes left in the budget, or the free disk space if that is less. */
  spareBytes(): number {
    const { minFreeBytes } = this.#options;
    const free = this.#freeBytes();
    return Math.min(this.#budgetLeft(), free === null ? Infinity : free - minFreeBytes);
  }

  /** Checks that a pull leaves enough disk space free, if the image's size is known. @throws {DiskFullError} */
  assertFits(spec: ContainerSpec): void {
    this.#assertFree(imageReference(spec), null);
  }

  /** Returns one entry for each Cargo that waits for a pull. */
  downloads(): DownloadStatus[] {
    return this.#downloads.status();
  }

  /** Removes entries of images that the engine no longer has. No-op without an engine. Called at the agent's start. */
  async reconcile(signal: AbortSignal): Promise<void> {
    const engine = await this.#options.findEngine(signal).catch(() => null);
    for (const image of engine === null ? [] : this.#images.values()) {
      const found = await engine?.image(image.reference).catch(() => undefined);
      signal.throwIfAborted();
      if (found === null && image.leases === 0) this.#images.delete(image.key);
    }
  }

  /** Removes an image. `in_use`: a Cargo or another container uses it. @throws {JobFailure} without an engine. */
  async remove(key: string): Promise<RemoveOutcome> {
    const image = this.#images.get(key);
    if (image !== undefined && image.leases > 0) return "in_use";
    if (image === undefined) return this.#downloads.has(key) ? "in_use" : "absent";
    const engine = await this.#options.findEngine(new AbortController().signal);
    const outcome = await this.#remove(engine, image);
    if (outcome !== "in_use") await this.#index.write();
    return outcome;
  }

  /** Removes all images that are not in use. @throws {JobFailure} when the engine is unavailable. */
  async prune(): Promise<{ removed: number; freedBytes: number }> {
    let [removed, freedBytes] = [0, 0];
    for (const { key, bytes } of this.list()) {
      if ((await this.remove(key)) !== "removed") continue;
      removed += 1;
      freedBytes += bytes;
    }
    return { removed, freedBytes };
  }

  /** Stops the pulls and waits until they have ended. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#downloads.close(shutdownFailure());
    if (this.#images.size > 0) await this.#index.write();
  }

  /** Never rejects: `shared` delivers errors to the callers. */
  async #pull(shared: SharedDownload<ImageLease>, spec: ContainerSpec, engine: ContainerEngine): Promise<void> {
    const { key, signal } = shared;
    const { clock, stallMs } = this.#options;
    const onProgress = (progress: DownloadProgress): void => {
      this.#assertFree(key, progress);
      shared.report(progress);
    };
    let freeBytes: number | null = null;
    try {
      this.#directory = await engine.directory().catch(() => null);
      this.#assertFree(key, null);
      freeBytes = this.#freeBytes();
      const image = await pullImage(spec, { engine, clock, stallMs, signal, onProgress });
      const { bytes } = image;
      this.#images.set(key, { key, reference: engineReference(spec), bytes, lastUsedMs: clock.now(), leases: 0 });
      const hold = this.#lease(key, image);
      try {
        if (shared.mayEvict) await this.#freeSpace(engine);
        else if (this.#budgetLeft() < 0) {
          hold.release();
          const held = this.#images.get(key);
          if (held !== undefined && held.leases === 0) await this.#remove(engine, held);
          throw new DiskFullError(`The image takes ${bytes} bytes unpacked, more than the images' disk budget leaves`);
        }
        // The image is used even if there is no space for the list; after a restart it counts as the owner's.
        await this.#index.write().catch(() => undefined);
        shared.succeed(() => this.#lease(key, image));
      } finally {
        hold.release();
      }
    } catch (error) {
      // The image is larger than the free space only when unpacked.
      const isFull = error instanceof DiskFullError && error.cause !== undefined;
      if (isFull && freeBytes !== null) this.#announcedBytes.set(key, freeBytes);
      shared.fail(error);
    }
  }

  #budgetLeft(): number {
    return this.#options.budgetBytes - this.list().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #freeBytes(): number | null {
    return this.#directory === null ? null : freeBytesOn(this.#directory);
  }

  /**
   * Checks the free disk space. An engine reports the size of an image only during the pull, and compressed. The image
   * takes at least that much.
   * @param progress of the pull; null before it.
   * @throws {DiskFullError}
   */
  #assertFree(key: string, progress: DownloadProgress | null): void {
    const free = this.#freeBytes();
    const { minFreeBytes } = this.#options;
    if (free === null) return;
    const totalBytes = progress === null ? (this.#announcedBytes.get(key) ?? null) : progress.totalBytes;
    const missing = totalBytes === null ? 1 : totalBytes - (progress?.receivedBytes ?? 0);
    if (missing <= free - minFreeBytes) return;
    if (totalBytes !== null) this.#announcedBytes.set(key, totalBytes);
    throw lowDiskError("image", totalBytes, free, minFreeBytes);
  }

  /** Evicts images after a pull. Their unpacked size is known only now: the new image stays only if it fits. */
  async #freeSpace(engine: ContainerEngine): Promise<void> {
    const excessBytes = -this.#budgetLeft();
    const evictable = this.list().filter(({ inUse }) => !inUse);
    const chosen =
      chooseEvictions(evictable, excessBytes) ?? evictable.sort((one, other) => one.lastUsedMs - other.lastUsedMs);
    for (const { key } of chosen) {
      const image = this.#images.get(key);
      if (image !== undefined && image.leases === 0) await this.#remove(engine, image);
    }
  }

  async #remove(engine: ContainerEngine, image: HeldImage): Promise<RemoveOutcome> {
    // Remove the image from the index first, so that no job gets it during the removal.
    this.#images.delete(image.key);
    const outcome = await engine.removeImage(image.reference).catch((error: unknown) => {
      this.#images.set(image.key, image);
      throw startFailureOf(error);
    });
    if (outcome === "in_use") this.#images.set(image.key, image);
    return outcome;
  }

  async #ask(engine: ContainerEngine, spec: ContainerSpec): Promise<EngineImage | null> {
    try {
      return await engine.image(engineReference(spec));
    } catch (error) {
      throw startFailureOf(error);
    }
  }

  #lease(key: string, image: EngineImage): ImageLease {
    const held = this.#images.get(key);
    let isHeld = held !== undefined;
    if (held !== undefined) {
      held.leases += 1;
      held.lastUsedMs = this.#options.clock.now();
    }
    const release = (): void => {
      if (isHeld && held !== undefined) held.leases -= 1;
      isHeld = false;
    };
    return { key, image, release };
  }

  #indexed(): IndexedImage[] {
    return [...this.#images.values()].map(({ key, reference, bytes, lastUsedMs }) => {
      return { key, reference, bytes, lastUsedMs };
    });
  }
}

type IndexedImage = z.infer<typeof indexedImageSchema>;

/** Returns the images that this Island pulled. After a damaged index it is empty, and the owner must remove them. */
async function readImageIndex(directory: string): Promise<IndexedImage[]> {
  return (await readIndexFile(join(directory, INDEX_FILE), indexSchema))?.images ?? [];
}

function imageIndexWriter(directory: string, images: () => readonly IndexedImage[]): IndexFileWriter {
  return new IndexFileWriter(join(directory, INDEX_FILE), () => ({ version: 1, images: images() }));
}
