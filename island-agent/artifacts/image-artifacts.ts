import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { DownloadStatus, RemoveOutcome } from "../disk/stored-item.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import type { ImageStore } from "../runtimes/container/image-store.ts";
import type { ArtifactLease, ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/** Part of {@link ImageStore} that is used here. */
export interface PulledImages extends Pick<
  ImageStore,
  "spareBytes" | "assertFits" | "list" | "downloads" | "remove" | "prune"
> {
  acquire(...parameters: Parameters<ImageStore["acquire"]>): Promise<{ release(): void }>;
}

/** Returns the store of container images, which have a separate budget. */
export function imageArtifacts(images: PulledImages): ArtifactStore {
  const budget = {
    spareBytes: () => images.spareBytes(),
    storedBytes: () => images.list().reduce((sum, { bytes }) => sum + bytes, 0),
  };

  function keeps({ model, container }: CargoManifest): boolean {
    return model === null && container !== undefined;
  }

  async function acquire(
    { slug, container }: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease> {
    if (container === undefined) throw new TypeError(`Cargo ${slug} names no image`);
    const lease = await images.acquire(slug, container, signal, onProgress, mayEvict);
    return { path: null, release: () => lease.release() };
  }

  function assertFits({ container }: CargoManifest): void {
    if (container !== undefined) images.assertFits(container);
  }

  function bytesOnDisk(cargo: CargoManifest): number | null {
    const key = cacheKeyOf(cargo);
    return images.list().find((image) => image.key === key)?.bytes ?? null;
  }

  /** Returns 0, because an engine does not report the size of an interrupted pull. */
  function takenBytes(): number {
    return 0;
  }

  function list(): StoredArtifact[] {
    return images.list().map((image) => ({ ...image, kind: "image", isWhole: true }));
  }

  function downloads(): DownloadStatus[] {
    return images.downloads();
  }

  function remove(key: string): Promise<RemoveOutcome> {
    return images.remove(key);
  }

  async function prune(): Promise<void> {
    await images.prune();
  }

  return { budget, keeps, acquire, assertFits, bytesOnDisk, takenBytes, list, downloads, remove, prune };
}
