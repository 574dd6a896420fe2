import type { CargoManifest } from "../../shared/cargo.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../disk/stored-item.ts";

/** Lease on a Cargo's files on disk. They are not deleted before `release`, which may be called more than once. */
export interface ArtifactLease {
  /** Path of the model's folder or (first) file; null for a Cargo without a model. */
  readonly path: string | null;
  /** Files of the Cargo's `adapters`, in their order. Absent for a Cargo without adapters. */
  readonly adapterPaths?: readonly string[];
  /** File of the Cargo's `projector`. Null or absent for a Cargo without a projector. */
  readonly projectorPath?: string | null;
  release(): void;
}

/** An artifact that Cargos need, as stored on disk. */
export interface StoredArtifact extends StoredItem {
  /** `part`: an interrupted download that can be resumed. */
  readonly kind: "file" | "folder" | "image" | "part";
  /** Whether all files of the artifact are on disk. */
  readonly isWhole: boolean;
}

/** Disk space for artifacts. Stores with the same budget object compete for its space. */
export interface ArtifactBudget {
  /** Returns the free bytes of the budget; negative when the stores exceed it. */
  spareBytes(): number;
  /** Returns the bytes on disk. Files shared by several artifacts count once. */
  storedBytes(): number;
}

/**
 * Keeps one kind of artifact on disk. Another kind needs only an adapter of this port, listed in `open-stores.ts`.
 * Methods with a `cargo` are called only with Cargos for which `keeps` is true.
 */
export interface ArtifactStore {
  readonly budget: ArtifactBudget;
  /** Returns whether this store keeps the Cargo's artifact. At most one store does. */
  keeps(cargo: CargoManifest): boolean;
  /**
   * Downloads missing files and leases the artifact.
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
   * Checks that a job's download of the Cargo would fit, by its known size and by the artifacts that may be deleted for
   * it.
   * @throws {DiskFullError}
   */
  assertFits(cargo: CargoManifest): void;
  /** Returns the Cargo's bytes on disk; null when its artifact is incomplete. */
  bytesOnDisk(cargo: CargoManifest): number | null;
  /** Returns the bytes of the budget that an interrupted or running download of the Cargo already takes. */
  takenBytes(cargo: CargoManifest): number;
  list(): StoredArtifact[];
  /** Returns one entry for each Cargo that waits for a download. */
  downloads(): DownloadStatus[];
  remove(key: string): Promise<RemoveOutcome>;
  /** Deletes all artifacts that are not in use. */
  prune(): Promise<void>;
}
