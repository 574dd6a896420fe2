import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import { MAX_NO_SPACE_FOR, type IslandState } from "../../shared/protocol/from-island.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import { DiskFullError } from "../disk/disk-full-error.ts";
import type { ArtifactLease, ArtifactStore } from "./artifact-store.ts";
import type { CargoNames } from "./cargo-names.ts";
import { DownloadPriority } from "./download-priority.ts";
import type { DownloadWatch } from "./download-watch.ts";
import { openPreloadEviction } from "./preload-eviction.ts";

/** Stores the artifacts of Cargos, of all kinds, and reports which are on disk. */
export function openCargoFiles(stores: readonly ArtifactStore[], names: CargoNames, watch: DownloadWatch) {
  const priority = new DownloadPriority();
  /** Slugs of Cargos that hold or await a lease; a slug occurs once for each lease. */
  const users: string[] = [];
  /** Cargos that jobs or the owner could not download for lack of disk space, by slug. */
  const tooLarge = recentMap<CargoManifest>(MAX_NO_SPACE_FOR);
  const eviction = openPreloadEviction(stores);

  /**
   * Leases all files of a job's Cargo, and downloads missing ones. `onProgress` is called when a download has made
   * progress.
   * @throws {JobFailure} or `signal.reason`.
   */
  async function acquire(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<ArtifactLease> {
    eviction.markUsed(cargo);
    if (bytesOnDisk(cargo) !== null) return leaseOf(cargo, signal, onProgress);
    return priority.runForJob(() => leaseOf(cargo, signal, onProgress));
  }

  /** Downloads files that the owner requested, while no job waits for its own download. @throws errors of `acquire`. */
  async function pull(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    eviction.markUsed(cargo);
    const lease = await priority.runWhenIdle((idle) => leaseOf(cargo, idle, onProgress), signal);
    lease.release();
  }

  /** Downloads like `pull`, but evicts nothing: call `freeSpace` first. @throws {DiskFullError}, errors of `acquire` */
  async function preload(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    if (bytesOnDisk(cargo) !== null) return;
    eviction.markPreloaded(cargo);
    try {
      const lease = await priority.runWhenIdle((idle) => leaseOf(cargo, idle, onProgress, false), signal);
      lease.release();
    } catch (error) {
      if (error instanceof DiskFullError) await eviction.markTooLarge(cargo);
      throw error;
    }
  }

  /** Returns why a job's Cargo cannot be downloaded, if the disk is known to lack space; null if it may fit. */
  function refusalOf(cargo: CargoManifest): DiskFullError | null {
    const lack = lackOf(cargo);
    if (lack !== null) tooLarge.set(cargo.slug, cargo);
    return lack;
  }

  /** Returns the slugs of Cargos that could not be downloaded for lack of disk space, and that still do not fit. */
  function noSpaceFor(): string[] {
    for (const [slug, cargo] of [...tooLarge]) if (lackOf(cargo) === null) tooLarge.delete(slug);
    return [...tooLarge.keys()];
  }

  /** Returns the Cargo's bytes on disk: 0 when it needs no files, null when its artifact is incomplete. */
  function bytesOnDisk(cargo: CargoManifest): number | null {
    if (cacheKeyOf(cargo) === null) return 0;
    return storeOf(cargo)?.bytesOnDisk(cargo) ?? null;
  }

  /** Returns the complete artifacts, by the keys of `cacheKeyOf`. A folder is one entry. */
  function cachedModels(): IslandState["cachedModels"] {
    const stored = stores.flatMap((store) => store.list()).filter(({ isWhole }) => isWhole);
    return stored.map(({ key, bytes }) => ({ key, bytes }));
  }

  /** Returns one entry for each Cargo that waits for a download. */
  function downloads(): IslandState["downloads"] {
    const downloads = stores.flatMap((store) => store.downloads());
    return downloads.map(({ slug, receivedBytes, totalBytes }) => {
      const fraction = totalBytes === null || totalBytes === 0 ? null : Math.min(1, receivedBytes / totalBytes);
      return { slug, fraction, receivedBytes, totalBytes, bytesPerSecond: watch.bytesPerSecond(slug) };
    });
  }

  function lackOf(cargo: CargoManifest): DiskFullError | null {
    if (bytesOnDisk(cargo) !== null) return null;
    try {
      storeOf(cargo)?.assertFits(cargo);
      return null;
    } catch (error) {
      if (error instanceof DiskFullError) return error;
      throw error;
    }
  }

  function storeOf(cargo: CargoManifest): ArtifactStore | undefined {
    return stores.find((store) => store.keeps(cargo));
  }

  async function leaseOf(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: () => void,
    mayEvict = true,
  ): Promise<ArtifactLease> {
    const { slug } = cargo;
    const key = cacheKeyOf(cargo);
    users.push(slug);
    const leave = (): void => void users.splice(users.indexOf(slug), 1);
    try {
      const lease = await watch.follow(slug, async (note) => {
        const recordProgress = (progress: DownloadProgress): void => {
          note(progress);
          onProgress();
        };
        return storeOf(cargo)?.acquire(cargo, signal, recordProgress, mayEvict);
      });
      if (key !== null) names.note(slug, key);
      let isHeld = true;
      const releaseOnce = (): void => {
        if (!isHeld) return;
        isHeld = false;
        leave();
        lease?.release();
      };
      return { path: null, ...lease, release: releaseOnce };
    } catch (error) {
      leave();
      // Preloads may delete fewer artifacts than jobs may.
      if (error instanceof DiskFullError && mayEvict) tooLarge.set(slug, cargo);
      throw error;
    }
  }

  return {
    /** Slugs of the Cargos whose files are in use or being downloaded. */
    get users(): ReadonlySet<string> {
      return new Set(users);
    },
    acquire,
    pull,
    preload,
    refusalOf,
    noSpaceFor,
    freeSpace: eviction.freeSpace,
    bytesOnDisk,
    cachedModels,
    downloads,
  };
}

export type CargoFiles = ReturnType<typeof openCargoFiles>;
