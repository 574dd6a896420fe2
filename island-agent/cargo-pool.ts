import { modelKey, type CargoManifest, type RuntimeType } from "../shared/cargo.ts";
import type { Clock } from "../shared/clock.ts";
import { JobFailure } from "../shared/errors.ts";
import type { ModelLease, ModelStore } from "./models/model-store.ts";
import type { CargoRuntime, LoadedCargo } from "./runtimes/runtime.ts";

export interface CargoPoolDeps {
  readonly runtimes: ReadonlyMap<RuntimeType, CargoRuntime>;
  readonly models: ModelStore;
  readonly clock: Clock;
  /** RAM that all loaded Cargos may take together. */
  readonly ramBytes: number;
  readonly log: (message: string, facts: object) => void;
  /** A Cargo was loaded or unloaded, or a download went on. */
  readonly onChange: () => void;
}

/** A Cargo in memory that one job uses; it is not unloaded before `release`. */
export interface CargoLease {
  readonly cargo: LoadedCargo;
  release(): void;
}

interface Entry {
  readonly manifest: CargoManifest;
  readonly key: string;
  /** Aborts the load when nobody waits for it any more. */
  readonly stopLoading: AbortController;
  readonly loading: Promise<LoadedCargo>;
  users: number;
  lastUsedMs: number;
  loaded: LoadedCargo | null;
  model: ModelLease | null;
}

/** Cargos in memory: each is loaded once however many jobs ask, and the least recently used idle one makes room. */
export class CargoPool {
  readonly #deps: CargoPoolDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();

  constructor(deps: CargoPoolDeps) {
    this.#deps = deps;
  }

  /** Slugs of the Cargos in memory. */
  loaded(): string[] {
    return [...this.#entries.values()].filter((entry) => entry.loaded !== null).map((entry) => entry.manifest.slug);
  }

  /** @throws {JobFailure} or `signal.reason`. */
  async acquire(manifest: CargoManifest, signal: AbortSignal): Promise<CargoLease> {
    signal.throwIfAborted();
    const key = `${manifest.slug} ${manifest.model === null ? "" : modelKey(manifest.model)}`;
    const entry = this.#entries.get(key) ?? this.#load(key, manifest);
    entry.users += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      entry.lastUsedMs = this.#deps.clock.now();
      if (entry.users > 0 || entry.loaded !== null) return;
      // A load that nobody waits for ends; whoever asks from now on starts another.
      if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
      entry.stopLoading.abort(new Error("no job waits for the Cargo"));
    };
    try {
      return { cargo: await orAbort(entry.loading, signal), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Unloads everything; what runs is ended. */
  async close(): Promise<void> {
    for (const entry of this.#entries.values()) {
      entry.stopLoading.abort(new Error("the agent stops"));
      this.#unload(entry);
    }
    await Promise.all(this.#closing);
  }

  #load(key: string, manifest: CargoManifest): Entry {
    const stopLoading = new AbortController();
    const entry: Entry = {
      manifest,
      key,
      stopLoading,
      loading: Promise.resolve().then(() => this.#bringIn(entry)),
      users: 0,
      lastUsedMs: this.#deps.clock.now(),
      loaded: null,
      model: null,
    };
    this.#entries.set(key, entry);
    // A load that failed is tried anew by the next job. Waiters see the failure themselves.
    entry.loading.catch(() => this.#remove(entry));
    return entry;
  }

  async #bringIn(entry: Entry): Promise<LoadedCargo> {
    const { manifest, stopLoading } = entry;
    const runtime = this.#deps.runtimes.get(manifest.runtimeType);
    if (runtime === undefined) {
      throw new JobFailure("runtime_unavailable", `This Island does not offer ${manifest.runtimeType}`, {
        retryable: true,
      });
    }
    if (manifest.model !== null) {
      const { models, onChange } = this.#deps;
      entry.model = await models.acquire(manifest.slug, manifest.model, stopLoading.signal, onChange);
      stopLoading.signal.throwIfAborted();
    }
    this.#makeRoom(manifest.requiredRamBytes);
    const loaded = await runtime.load(manifest, entry.model?.path ?? null, stopLoading.signal);
    if (stopLoading.signal.aborted) {
      await loaded[Symbol.asyncDispose]();
      stopLoading.signal.throwIfAborted();
    }
    entry.loaded = loaded;
    this.#deps.onChange();
    this.#deps.log("Cargo loaded", { slug: manifest.slug, residentBytes: loaded.residentBytes });
    void loaded.gone.then(() => this.#remove(entry));
    return loaded;
  }

  /** Unloads idle Cargos, least recently used first, until `bytes` more fit. Figures are the measured ones where known. */
  #makeRoom(bytes: number): void {
    const loaded = [...this.#entries.values()].filter((entry) => entry.loaded !== null);
    const idle = loaded.filter((entry) => entry.users === 0).sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    let taken = loaded.reduce((sum, entry) => sum + sizeOf(entry), 0);
    for (const entry of idle) {
      if (taken + bytes <= this.#deps.ramBytes) return;
      taken -= sizeOf(entry);
      this.#unload(entry);
    }
    if (taken > 0 && taken + bytes > this.#deps.ramBytes) {
      throw new JobFailure("out_of_memory", "The Cargos that run now leave no memory for this one", {
        retryable: true,
      });
    }
  }

  #unload(entry: Entry): void {
    this.#remove(entry);
    if (entry.loaded === null) return;
    const closing = Promise.resolve(entry.loaded[Symbol.asyncDispose]()).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #remove(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    entry.model?.release();
    entry.model = null;
    this.#deps.onChange();
  }
}

function sizeOf(entry: Entry): number {
  return entry.loaded?.residentBytes ?? entry.manifest.requiredRamBytes;
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
