import type { CargoManifest } from "../shared/cargo.ts";
import type { IslandState } from "../shared/protocol/from-island.ts";
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

  constructor(models: ModelStore) {
    this.#models = models;
  }

  /**
   * Everything that the Cargo needs, downloaded as far as it is not there. `onProgress` when a download went on.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(cargo: CargoManifest, signal: AbortSignal, onProgress: () => void): Promise<FilesLease> {
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
