import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import { MAX_NO_SPACE_FOR, type IslandState } from "../../shared/protocol/from-island.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import { DiskFullError } from "../disk/disk-full-error.ts";
import type { ArtifactLease, ArtifactStore } from "./artifact-store.ts";
import type { CargoNames } from "./cargo-names.ts";
import { DownloadPriority } from "./download-priority.ts";
import type { DownloadWatch } from "./download-watch.ts";
import { PreloadEviction } from "./preload-eviction.ts";

/** Puts on disk what Cargos need, whatever kind of artifact it is, and reports what is there. */
export class CargoFiles {
  readonly #stores: readonly ArtifactStore[];
  readonly #names: CargoNames;
  readonly #watch: DownloadWatch;
  readonly #priority = new DownloadPriority();
  readonly #eviction: PreloadEviction;
  /** Slugs of Cargos that have or await a lease, once for each lease. */
  readonly #users: string[] = [];
  /** Cargos that jobs or the owner could not have for lack of disk space, by slug. */
  readonly #tooLarge = recentMap<CargoManifest>(MAX_NO_SPACE_FOR);

  constructor(stores: readonly ArtifactStore[], names: CargoNames, watch: DownloadWatch) {
    this.#stores = stores;
    this.#names = names;
    this.#watch = watch;
    this.#eviction = new PreloadEviction(stores);
  }

  /** Slugs of the Cargos whose files are in use or being downloaded. */
  get users(): ReadonlySet<string> {
    return new Set(this.#users);
  }

  /**
   * Leases everything that a job's Cargo needs, and downloads what is missing. `onProgress`: a download has made progress.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<ArtifactLease> {
    this.#eviction.markUsed(cargo);
    if (this.bytesOnDisk(cargo) !== null) return this.#lease(cargo, signal, onProgress);
    return this.#priority.runForJob(() => this.#lease(cargo, signal, onProgress));
  }

  /** Downloads what the owner asked for, while no job waits for a download of its own. @throws as `acquire`. */
  async pull(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    this.#eviction.markUsed(cargo);
    const lease = await this.#priority.runWhenIdle((idle) => this.#lease(cargo, idle, onProgress), signal);
    lease.release();
  }

  /** As `pull`, but evicts nothing: call `makeRoom` first. @throws {DiskFullError}, or as `acquire`. */
  async preload(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    if (this.bytesOnDisk(cargo) !== null) return;
    this.#eviction.markPreloaded(cargo);
    try {
      const lease = await this.#priority.runWhenIdle((idle) => this.#lease(cargo, idle, onProgress, false), signal);
      lease.release();
    } catch (error) {
      if (error instanceof DiskFullError) await this.#eviction.markTooLarge(cargo);
      throw error;
    }
  }

  /** Why a job's Cargo cannot be downloaded now, if that is known before the download: the disk lacks space. Null: it may fit. */
  refusalOf(cargo: CargoManifest): DiskFullError | null {
    const lack = this.#lackOf(cargo);
    if (lack !== null) this.#tooLarge.set(cargo.slug, cargo);
    return lack;
  }

  /** Slugs of the Cargos that jobs or the owner could not have for lack of disk space, as far as that is still so. */
  noSpaceFor(): string[] {
    for (const [slug, cargo] of [...this.#tooLarge]) if (this.#lackOf(cargo) === null) this.#tooLarge.delete(slug);
    return [...this.#tooLarge.keys()];
  }

  /** @see PreloadEviction.makeRoom */
  makeRoom(cargo: CargoManifest, mayRemove: (slug: string) => boolean): Promise<number> {
    return this.#eviction.makeRoom(cargo, mayRemove);
  }

  /** What the Cargo takes on disk: 0 when it needs nothing, null when it is not there as a whole. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    if (cacheKeyOf(cargo) === null) return 0;
    return this.#storeOf(cargo)?.bytesOnDisk(cargo) ?? null;
  }

  /** What is on disk as a whole, by the keys of `cacheKeyOf`. A folder is one entry. */
  cached(): IslandState["cachedModels"] {
    const stored = this.#stores.flatMap((store) => store.list()).filter(({ isWhole }) => isWhole);
    return stored.map(({ key, bytes }) => ({ key, bytes }));
  }

  /** One entry for each Cargo that waits for a download. */
  downloads(): IslandState["downloads"] {
    const downloads = this.#stores.flatMap((store) => store.downloads());
    return downloads.map(({ slug, receivedBytes, totalBytes }) => {
      const fraction = totalBytes === null || totalBytes === 0 ? null : Math.min(1, receivedBytes / totalBytes);
      return { slug, fraction, receivedBytes, totalBytes, bytesPerSecond: this.#watch.bytesPerSecond(slug) };
    });
  }

  #lackOf(cargo: CargoManifest): DiskFullError | null {
    if (this.bytesOnDisk(cargo) !== null) return null;
    try {
      this.#storeOf(cargo)?.assertFits(cargo);
      return null;
    } catch (error) {
      if (error instanceof DiskFullError) return error;
      throw error;
    }
  }

  #storeOf(cargo: CargoManifest): ArtifactStore | undefined {
    return this.#stores.find((store) => store.keeps(cargo));
  }

  async #lease(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: () => void,
    mayEvict = true,
  ): Promise<ArtifactLease> {
    const { slug } = cargo;
    const key = cacheKeyOf(cargo);
    this.#users.push(slug);
    const leave = (): void => void this.#users.splice(this.#users.indexOf(slug), 1);
    try {
      const lease = await this.#watch.follow(slug, async (note) => {
        const noteProgress = (progress: DownloadProgress): void => {
          note(progress);
          onProgress();
        };
        return this.#storeOf(cargo)?.acquire(cargo, signal, noteProgress, mayEvict);
      });
      if (key !== null) this.#names.note(slug, key);
      let isHeld = true;
      const releaseOnce = (): void => {
        if (!isHeld) return;
        isHeld = false;
        leave();
        lease?.release();
      };
      const { path = null, adapterPaths = [] } = lease ?? {};
      return { path, adapterPaths, release: releaseOnce };
    } catch (error) {
      leave();
      // Preloads may delete less than jobs may.
      if (error instanceof DiskFullError && mayEvict) this.#tooLarge.set(slug, cargo);
      throw error;
    }
  }
}
