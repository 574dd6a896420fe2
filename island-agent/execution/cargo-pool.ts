import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { abortable } from "../../shared/async/abortable.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import { JobFailure, shutdownFailure } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import type { Engines } from "../runtimes/engine/engines.ts";
import type { CargoRuntime, LoadedCargo, MemoryUse } from "../runtimes/runtime.ts";
import { MemoryBudget, type Occupant } from "./memory-budget.ts";
import { openMemoryNeeds, type MemoryNeeds } from "./memory-need.ts";
import type { ArtifactLease } from "../artifacts/artifact-store.ts";
import { formatMibRoundedDown, formatMibRoundedUp } from "../../shared/format-bytes.ts";

/** Idle limits by runtime. A wasm Cargo loads in about 50 ms, so its idle process is not worth keeping. */
const IDLE_LIMITS_MS: Partial<Record<RuntimeType, number>> = { wasm: 60_000 };

interface CargoPoolDeps {
  readonly runtimes: Pick<ReadonlyMap<RuntimeType, CargoRuntime>, "get">;
  readonly files: Pick<CargoFiles, "acquire">;
  /** Engines of the host. They run the Cargos that they serve, with their own files and memory. */
  readonly engines: Pick<Engines, "load">;
  readonly clock: Clock;
  /** Memory limit for all Cargos together, from the owner's settings. {@link CargoPool.setCaps} replaces it. */
  readonly caps: MemoryUse;
  /** Free RAM of the machine now; null when unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
  /** Called when a Cargo was loaded or unloaded, or when a download made progress. */
  readonly onChange: () => void;
}

/** A loaded Cargo that one job uses. The pool does not unload it before `release`. */
export interface CargoLease {
  readonly cargo: LoadedCargo;
  release(): void;
}

export interface LoadedReport extends MemoryUse {
  readonly slug: string;
  readonly users: number;
}

/** Holds the loaded Cargos. Loads each Cargo once for all jobs that need it, as soon as it fits the memory budget. */
export class CargoPool {
  readonly #deps: CargoPoolDeps;
  readonly #budget: MemoryBudget;
  readonly #needs: MemoryNeeds;
  /** Cargos that jobs can get: loading or loaded. */
  readonly #entries = new Map<string, Entry>();
  /** Loads and disposals in progress; they never reject. */
  readonly #ongoing = new Set<Promise<void>>();
  /** Disposals that are part of `#ongoing`. */
  readonly #leaving = new Set<Promise<void>>();
  #uses = 0;
  #isClosed = false;

  constructor(deps: CargoPoolDeps) {
    this.#deps = deps;
    this.#budget = new MemoryBudget(deps.caps, deps.clock);
    this.#needs = openMemoryNeeds(deps.caps, deps.clock);
  }

  loaded(): LoadedReport[] {
    const entries = [...this.#entries.values()].filter((entry) => entry.loaded !== null);
    return entries.map(({ manifest, users, memory }) => ({ slug: manifest.slug, users, ...memory }));
  }

  /** Returns the slugs of the Cargos that are loading, with their files on disk. */
  loading(): string[] {
    const entries = [...this.#entries.values()].filter((entry) => entry.readySinceMs !== null && entry.loaded === null);
    return entries.map(({ manifest }) => manifest.slug);
  }

  /** Returns a progress counter of the Cargo's download and load. A stalled download does not change it. */
  progressOf(manifest: CargoManifest): number {
    const entry = this.#entries.get(keyOf(manifest));
    if (entry === undefined) return 0;
    const { steps, readySinceMs } = entry;
    return steps + (readySinceMs === null ? 0 : Math.floor((this.#deps.clock.monotonicMs() - readySinceMs) / 1_000));
  }

  /** Waits for the download, for memory and for the load. @throws {JobFailure} or `signal.reason`. */
  async acquire(manifest: CargoManifest, signal: AbortSignal): Promise<CargoLease> {
    signal.throwIfAborted();
    const key = keyOf(manifest);
    while (this.#budget.isOverdue && this.#isInMemory(key)) await abortable(this.#budget.changed(), signal);
    if (this.#isClosed) throw shutdownFailure();
    const entry = this.#entries.get(key) ?? this.#load(key, manifest);
    entry.users += 1;
    entry.idleTimer?.cancel();
    const release = this.#releaseOnce(entry);
    try {
      return { cargo: await abortable(entry.loading, signal), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Unloads the idle Cargos for which `isMeant` is true. Resolves to their memory use once that memory is free. */
  async unloadIdle(isMeant: (manifest: CargoManifest) => boolean): Promise<LoadedReport[]> {
    const idle = [...this.#entries.values()].filter(({ isIdle, manifest }) => isIdle && isMeant(manifest));
    const reports = idle.map(({ manifest, memory }) => ({ slug: manifest.slug, users: 0, ...memory }));
    for (const entry of idle) this.#unload(entry);
    await Promise.all(this.#leaving);
    return reports;
  }

  /** Unloads idle Cargos above the new caps. Refuses waiting Cargos that no longer fit: they would block the queue. */
  setCaps(caps: MemoryUse): void {
    this.#needs.setCaps(caps);
    for (const entry of this.#entries.values()) {
      if (this.#budget.holds(entry)) continue;
      try {
        this.#needs.assertFits(entry.manifest, entry.estimate, "as estimated");
      } catch (error) {
        entry.stopLoading.abort(error);
      }
    }
    this.#budget.setCaps(caps);
  }

  /** Unloads all Cargos and aborts loads. Resolves when all memory is free. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const entry of this.#entries.values()) {
      entry.stopLoading.abort(shutdownFailure());
      this.#unload(entry);
    }
    while (this.#ongoing.size > 0) await Promise.all(this.#ongoing);
  }

  #releaseOnce(entry: Entry): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      entry.lastUse = this.#uses++;
      if (entry.users === 0 && entry.loaded !== null && !entry.isLeaving) this.#limitIdleness(entry);
      // The job may have made the Cargo grow, which counts even while other jobs use it.
      if (entry.users > 0 || entry.loaded !== null) return this.#budget.arrange();
      // No job waits for this load, so stop it. A later job starts a new load.
      this.#forget(entry);
      entry.stopLoading.abort(new Error("no job waits for the Cargo"));
    };
  }

  #limitIdleness(entry: Entry): void {
    const limitMs = idleLimitMs(entry.manifest);
    if (limitMs === undefined) return;
    if (limitMs === 0) return this.#unload(entry);
    entry.idleTimer = this.#deps.clock.schedule(limitMs, () => this.#unload(entry));
  }

  #load(key: string, manifest: CargoManifest): Entry {
    const entry: Entry = {
      manifest,
      key,
      stopLoading: new AbortController(),
      loading: Promise.resolve().then(() => this.#loadEntry(entry)),
      estimate: { ramBytes: manifest.requiredRamBytes, vramBytes: manifest.requiredVramBytes },
      ramCeilingBytes: Infinity,
      steps: 0,
      readySinceMs: null,
      users: 0,
      lastUse: this.#uses++,
      idleTimer: null,
      loaded: null,
      files: null,
      isLeaving: false,
      get memory() {
        return entry.loaded?.memory ?? entry.estimate;
      },
      get isIdle() {
        return entry.loaded !== null && entry.users === 0 && !entry.isLeaving;
      },
      unload: () => this.#unload(entry),
    };
    this.#entries.set(key, entry);
    // The waiting jobs fail. The next job tries again.
    const settled = entry.loading.then(
      () => undefined,
      () => {
        this.#forget(entry);
        this.#leaveMemory(entry);
      },
    );
    this.#track(settled);
    return entry;
  }

  async #loadEntry(entry: Entry): Promise<LoadedCargo> {
    const { manifest, stopLoading } = entry;
    const { files, onChange, log } = this.#deps;
    const { signal } = stopLoading;
    const onEngine = this.#deps.engines.load(manifest);
    if (onEngine !== null) return this.#keep(entry, onEngine);
    const runtime = this.#runtimeFor(manifest);
    this.#needs.assertFits(manifest, entry.estimate, "as its definition says");
    const lease = await files.acquire(manifest, signal, () => {
      entry.steps += 1;
      onChange();
    });
    entry.files = lease;
    const beganMs = this.#deps.clock.monotonicMs();
    entry.readySinceMs = beganMs;
    signal.throwIfAborted();
    log.info({ cargo: manifest.slug }, "Loading Cargo");
    onChange();
    const admit = (estimate: () => Promise<MemoryUse>): Promise<number> => this.#admit(entry, estimate);
    const { path, adapterPaths, projectorPath } = lease;
    const loaded = await runtime.load(manifest, path, signal, admit, adapterPaths, projectorPath);
    if (signal.aborted) {
      await loaded[Symbol.asyncDispose]();
      signal.throwIfAborted();
    }
    this.#keep(entry, loaded);
    const loadMs = Math.round(this.#deps.clock.monotonicMs() - beganMs);
    const facts = { cargo: manifest.slug, load_ms: loadMs, estimate: entry.estimate, measured: loaded.memory };
    log.info(facts, "Cargo loaded");
    return loaded;
  }

  /** Keeps a loaded Cargo for jobs until it is gone or unloaded. */
  #keep(entry: Entry, loaded: LoadedCargo): LoadedCargo {
    entry.loaded = loaded;
    this.#budget.arrange();
    this.#deps.onChange();
    void loaded.gone.then(() => this.#unload(entry));
    return loaded;
  }

  /** Waits until a load fits. Resolves to the RAM limit at which its process is killed. */
  async #admit(entry: Entry, estimate: () => Promise<MemoryUse>): Promise<number> {
    const { signal } = entry.stopLoading;
    const need = await this.#needs.of(entry.manifest, entry.key, async () => {
      const memory = await estimate();
      signal.throwIfAborted();
      return memory;
    });
    entry.estimate = need.memory;
    entry.ramCeilingBytes = need.ramCeilingBytes;
    await this.#budget.enter(entry, signal);
    await this.#waitForFreeRam(entry, signal);
    signal.throwIfAborted();
    return entry.ramCeilingBytes;
  }

  #runtimeFor({ runtimeType }: CargoManifest): CargoRuntime {
    const runtime = this.#deps.runtimes.get(runtimeType);
    if (runtime !== undefined) return runtime;
    throw new JobFailure("runtime_unavailable", `This Island does not offer ${runtimeType}`, { retryable: true });
  }

  #unload(entry: Entry): void {
    this.#forget(entry);
    entry.idleTimer?.cancel();
    const { key, loaded, ramCeilingBytes } = entry;
    if (loaded === null || entry.isLeaving) return;
    entry.isLeaving = true;
    if (loaded.memory !== null && this.#budget.holds(entry))
      this.#needs.note(key, { memory: loaded.memory, ramCeilingBytes });
    const leaving = this.#dispose(entry, loaded);
    this.#leaving.add(leaving);
    this.#track(leaving.finally(() => this.#leaving.delete(leaving)));
  }

  async #dispose(entry: Entry, loaded: LoadedCargo): Promise<void> {
    try {
      await loaded[Symbol.asyncDispose]();
    } catch (error) {
      this.#deps.log.warn({ cargo: entry.manifest.slug, reason: String(error) }, "Could not unload a Cargo cleanly");
    }
    this.#leaveMemory(entry);
  }

  /**
   * Waits until the machine has the free RAM that the load needs. Unloads idle Cargos for it, one at a time. The budget
   * is not enough, because other programs use the machine's RAM.
   * @throws {JobFailure} `out_of_memory`, retryable, when no idle Cargo is left; `signal.reason`.
   */
  async #waitForFreeRam({ manifest, estimate }: Entry, signal: AbortSignal): Promise<void> {
    const { slug, container, requiredRamBytes } = manifest;
    // Only one container, limited to the Cargo's RAM, starts now. The others start with their jobs.
    const needBytes = container === undefined ? estimate.ramBytes : Math.min(requiredRamBytes, estimate.ramBytes);
    for (;;) {
      signal.throwIfAborted();
      const free = this.#deps.freeRamBytes();
      if (free === null || free >= needBytes) return;
      if (this.#leaving.size === 0) this.#budget.leastRecentlyUsedIdle()?.unload();
      if (this.#leaving.size === 0) {
        const message = `${slug} needs ${formatMibRoundedUp(needBytes)} of RAM, but only ${formatMibRoundedDown(free)} are free now`;
        throw new JobFailure("out_of_memory", message, { retryable: true });
      }
      await abortable(Promise.race(this.#leaving), signal);
    }
  }

  /** Removes the entry, so that jobs no longer get it. */
  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    this.#deps.onChange();
  }

  #leaveMemory(entry: Entry): void {
    entry.files?.release();
    entry.files = null;
    this.#budget.leave(entry);
  }

  /** Returns whether the Cargo is loaded in the Island's memory, not in an engine's. */
  #isInMemory(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.loaded !== null && this.#budget.holds(entry);
  }

  #track(work: Promise<void>): void {
    this.#ongoing.add(work);
    void work.finally(() => this.#ongoing.delete(work));
  }
}

/** A Cargo of the pool, from the first job that needs it to its unload. */
interface Entry extends Occupant {
  readonly manifest: CargoManifest;
  readonly key: string;
  /** Aborts the load when no job waits for it. */
  readonly stopLoading: AbortController;
  readonly loading: Promise<LoadedCargo>;
  estimate: MemoryUse;
  /** Counter that grows with the download. */
  steps: number;
  /**
   * Monotonic time in ms when the files were on disk; null before. From then on, waits and load have their own limits.
   */
  readySinceMs: number | null;
  /** RAM limit, set once from the first estimate. Growth caused by jobs must not raise it. */
  ramCeilingBytes: number;
  users: number;
  lastUse: number;
  /** Unloads the Cargo after its idle limit. */
  idleTimer: Timer | null;
  loaded: LoadedCargo | null;
  files: ArtifactLease | null;
  isLeaving: boolean;
}

/** Returns the whole manifest as a key, because a Cargo with a changed definition must be loaded again. */
function keyOf(manifest: CargoManifest): string {
  return JSON.stringify(manifest);
}

/** Returns how long a Cargo stays loaded without a job; undefined if it stays until its memory is needed. */
function idleLimitMs({ runtimeType, keepAliveMs }: CargoManifest): number | undefined {
  return keepAliveMs ?? IDLE_LIMITS_MS[runtimeType];
}
