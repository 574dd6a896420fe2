import { cacheKeyOf, type CargoManifest } from "../shared/cargo.ts";
import type { IslandState } from "../shared/protocol/from-island.ts";
import { Bandwidth } from "./preload/bandwidth.ts";
import type { ModelStore } from "./models/model-store.ts";

/** What a Cargo needs on disk; nothing of it is deleted before `release`, which may be called more than once. */
export interface FilesLease {
  /** The model's file; null for a Cargo without one. */
  readonly path: string | null;
  release(): void;
}

/** Brings to disk what Cargos need, whatever kind of Cargo, and tells what is there. */
export class CargoFiles {
  readonly #models: ModelStore;
  readonly #bandwidth = new Bandwidth();

  constructor(models: ModelStore) {
    this.#models = models;
  }

  /** Most that all may take on disk together. */
  get budgetBytes(): number {
    return this.#models.usage().budgetBytes;
  }

  /**
   * Everything that a job's Cargo needs, downloaded as far as it is not there. `onProgress` when a download went on.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<FilesLease> {
    if (this.bytesOnDisk(cargo) !== null) return this.#lease(cargo, signal, onProgress);
    return this.#bandwidth.forJob(() => this.#lease(cargo, signal, onProgress));
  }

  /** Has it on disk, downloading only while no job waits for a download of its own. @throws as `acquire`. */
  async preload(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<void> {
    const lease = await this.#bandwidth.whenQuiet((quiet) => this.#lease(cargo, quiet, onProgress), signal);
    lease.release();
  }

  /** What the Cargo takes on disk; null when it is not there whole. */
  bytesOnDisk(cargo: CargoManifest): number | null {
    const key = cacheKeyOf(cargo);
    if (key === null) return 0;
    return this.#models.list().find((model) => model.key === key)?.bytes ?? null;
  }

  async #lease(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<FilesLease> {
    if (cargo.model === null) return { path: null, release: () => undefined };
    return this.#models.acquire(cargo.slug, cargo.model, signal, onProgress);
  }

  /** What is on disk whole, by the keys of `cacheKeyOf`. */
  cached(): IslandState["cachedModels"] {
    return this.#models.list().map(({ key, bytes }) => ({ key, bytes }));
  }

  /** One entry for each Cargo that waits for a download. */
  downloads(): IslandState["downloads"] {
    return this.#models.downloads().map(({ slug, fraction }) => ({ slug, fraction }));
  }
}
