import type { CargoManifest } from "../../shared/cargo.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../disk/stored-item.ts";

/** What a Cargo needs on disk. Nothing of it is deleted before `release`, which may be called more than once. */
export interface ArtifactLease {
  /** The model's file, or its folder; null for a Cargo without a model. */
  readonly path: string | null;
  /** Files of the Cargo's `adapters`, in their order. Absent: it has none. */
  readonly adapterPaths?: readonly string[];
  release(): void;
}

/** Something that Cargos need, as it is on disk. */
export interface StoredArtifact extends StoredItem {
  /** `part`: a download that was interrupted and can be resumed. */
  readonly kind: "file" | "folder" | "image" | "part";
  /** Whether all of it is there. */
  readonly isWhole: boolean;
}

/** Disk space for artifacts. Stores that have the same budget object compete for its space. */
export interface ArtifactBudget {
  /** Bytes of the budget that are free; negative when the stores take more than it. */
  spareBytes(): number;
  /** Bytes on disk. What several artifacts share counts once. */
  storedBytes(): number;
}

/**
 * Keeps one kind of artifact on disk. Another kind needs an adapter of this port, listed in `open-stores.ts`, and no change
 * elsewhere. Methods with a `cargo` are called only with Cargos for which `keeps` is true.
 */
export interface ArtifactStore {
  readonly budget: ArtifactBudget;
  /** Whether this store keeps what the Cargo needs. At most one store keeps it. */
  keeps(cargo: CargoManifest): boolean;
  /**
   * Downloads what is missing and leases it.
   * @param onProgress called when a download has made progress.
   * @param mayEvict whether other artifacts may be deleted for it.
   * @throws {JobFailure} or `signal.reason`. {@link DiskFullError} when it does not fit.
   */
  acquire(
    cargo: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease>;
  /**
   * Checks that a job's download of the Cargo would fit, by what is known of its size, and what may be deleted for it.
   * @throws {DiskFullError}
   */
  assertFits(cargo: CargoManifest): void;
  /** What the Cargo takes on disk; null when it is not there as a whole. */
  bytesOnDisk(cargo: CargoManifest): number | null;
  /** The part of the budget that an interrupted or running download of the Cargo takes already. */
  takenBytes(cargo: CargoManifest): number;
  list(): StoredArtifact[];
  /** One entry for each Cargo that waits for a download. */
  downloads(): DownloadStatus[];
  remove(key: string): Promise<RemoveOutcome>;
  /** Deletes everything that is not in use. */
  prune(): Promise<void>;
}
