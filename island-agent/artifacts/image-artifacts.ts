import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { DownloadStatus, RemoveOutcome } from "../disk/stored-item.ts";
import type { DownloadProgress } from "../models/download/transfer.ts";
import type { ImageStore } from "../runtimes/container/image-store.ts";
import type { ArtifactBudget, ArtifactLease, ArtifactStore, StoredArtifact } from "./artifact-store.ts";

/** The part of {@link ImageStore} that is used here. */
export interface PulledImages extends Pick<
  ImageStore,
  "spareBytes" | "assertFits" | "list" | "downloads" | "remove" | "prune"
> {
  acquire(...parameters: Parameters<ImageStore["acquire"]>): Promise<{ release(): void }>;
}

/** The images of container Cargos, which have a budget of their own. */
export class ImageArtifacts implements ArtifactStore {
  readonly budget: ArtifactBudget;
  readonly #images: PulledImages;

  constructor(images: PulledImages) {
    this.#images = images;
    this.budget = {
      spareBytes: () => images.spareBytes(),
      storedBytes: () => images.list().reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  keeps({ model, container }: CargoManifest): boolean {
    return model === null && container !== undefined;
  }

  async acquire(
    { slug, container }: CargoManifest,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ): Promise<ArtifactLease> {
    if (container === undefined) throw new TypeError(`Cargo ${slug} names no image`);
    const lease = await this.#images.acquire(slug, container, signal, onProgress, mayEvict);
    return { path: null, release: () => lease.release() };
  }

  assertFits({ container }: CargoManifest): void {
    if (container !== undefined) this.#images.assertFits(container);
  }

  bytesOnDisk(cargo: CargoManifest): number | null {
    const key = cacheKeyOf(cargo);
    return this.#images.list().find((image) => image.key === key)?.bytes ?? null;
  }

  /** An engine does not say what an interrupted pull takes. */
  takenBytes(): number {
    return 0;
  }

  list(): StoredArtifact[] {
    return this.#images.list().map((image) => ({ ...image, kind: "image", isWhole: true }));
  }

  downloads(): DownloadStatus[] {
    return this.#images.downloads();
  }

  remove(key: string): Promise<RemoveOutcome> {
    return this.#images.remove(key);
  }

  async prune(): Promise<void> {
    await this.#images.prune();
  }
}
