import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoFiles, FilesLease } from "../artifacts/cargo-files.ts";
import { seekFreeRam } from "./free-ram.ts";
import { formatMibRoundedDown, formatMibRoundedUp, GIB } from "../../shared/format-bytes.ts";
import { MemoryRoom, type Occupant } from "./memory-budget.ts";
import { abortable } from "../../shared/abortable.ts";
import type { CargoRuntime, LoadedCargo, MemoryUse } from "../runtimes/runtime.ts";

export interface CargoPoolDeps {
  readonly runtimes: ReadonlyMap<RuntimeType, CargoRuntime>;
  readonly files: Pick<CargoFiles, "acquire">;
  readonly clock: Clock;
  /** Memory that all Cargos may take together: the owner's caps. */
  readonly caps: MemoryUse;
  /** RAM of the machine that nothing holds now; null when unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
  /** A Cargo was loaded or unloaded, or a download went on. */
  readonly onChange: () => void;
}

/** A Cargo in memory that one job uses; it is not unloaded before `release`. */
export interface CargoLease {
  readonly cargo: LoadedCargo;
  release(): void;
}

/** A Cargo in memory, for the owner. */
export interface LoadedReport extends MemoryUse {
  readonly slug: string;
  readonly users: number;
}

interface Entry extends Occupant {
  readonly manifest: CargoManifest;
  readonly key: string;
  /** Aborts the load when nobody waits for it any more. */
  readonly stopLoading: AbortController;
  readonly loading: Promise<LoadedCargo>;
  estimate: MemoryUse;
  /** RAM at which its process is ended. Set with the first estimate and kept: what jobs made it grow to must not raise it. */
  ramCeilingBytes: number;
  users: number;
  lastUse: number;
  loaded: LoadedCargo | null;
  files: FilesLease | null;
  isLeaving: boolean;
}

/** What is remembered of a Cargo that was in memory. */
interface Measured {
  readonly memory: MemoryUse;
  readonly ramCeilingBytes: number;
  /** On the clock's monotonic scale. */
  readonly atMs: number;
}

/** Most Cargos whose measured memory is remembered. */
const MOST_MEASURED = 1_000;
/** After that a Cargo is estimated anew: what it took may have been one job's doing, and must not bar it for ever. */
const MEASURED_FOR_MS = 600_000;
/** What a Cargo may take beyond its estimate: as much again, at least this. */
const LEAST_SLACK_BYTES = GIB;

/** Cargos in memory: each is loaded once however many jobs ask, as soon as there is room for it. */
export class CargoPool {
  readonly #deps: CargoPoolDeps;
  readonly #room: MemoryRoom;
  /** What jobs may ask for: on its way, or in memory. */
  readonly #entries = new Map<string, Entry>();
  /** What Cargos took when they were last in memory, by key. */
  readonly #measured = new Map<string, Measured>();
  /** Loads and disposals under way; they never reject. */
  readonly #ongoing = new Set<Promise<void>>();
  /** The disposals among them. */
  readonly #leaving = new Set<Promise<void>>();
  #uses = 0;
  #isClosed = false;

  constructor(deps: CargoPoolDeps) {
    this.#deps = deps;
    this.#room = new MemoryRoom(deps.caps, deps.clock);
  }

  /** The Cargos in memory. */
  loaded(): LoadedReport[] {
    const entries = [...this.#entries.values()].filter((entry) => entry.loaded !== null);
    return entries.map(({ manifest, users, memory }) => ({ slug: manifest.slug, users, ...memory }));
  }

  /** Waits for download, room and load. @throws {JobFailure} or `signal.reason`. */
  async acquire(manifest: CargoManifest, signal: AbortSignal): Promise<CargoLease> {
    signal.throwIfAborted();
    // All of it: a Cargo whose definition changed is another one.
    const key = JSON.stringify(manifest);
    while (this.#room.isOverdue && this.#isLoaded(key)) await abortable(this.#room.moved(), signal);
    if (this.#isClosed) throw closedFailure();
    const entry = this.#entries.get(key) ?? this.#load(key, manifest);
    entry.users += 1;
    const release = this.#releaseOnce(entry);
    try {
      return { cargo: await abortable(entry.loading, signal), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Unloads everything; what runs is ended. Resolves when all memory is given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const entry of this.#entries.values()) {
      entry.stopLoading.abort(closedFailure());
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
      // What the job made it grow by counts at once, also while other jobs use it.
      if (entry.users > 0 || entry.loaded !== null) return this.#room.arrange();
      // A load that nobody waits for ends; whoever asks from now on starts another.
      this.#forget(entry);
      entry.stopLoading.abort(new Error("no job waits for the Cargo"));
    };
  }

  #load(key: string, manifest: CargoManifest): Entry {
    const entry: Entry = {
      manifest,
      key,
      stopLoading: new AbortController(),
      loading: Promise.resolve().then(() => this.#bringIn(entry)),
      estimate: { ramBytes: manifest.requiredRamBytes, vramBytes: manifest.requiredVramBytes },
      ramCeilingBytes: Infinity,
      users: 0,
      lastUse: this.#uses++,
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
    // Waiters see a failure themselves; the next job tries anew.
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

  async #bringIn(entry: Entry): Promise<LoadedCargo> {
    const { manifest, stopLoading } = entry;
    const { files, onChange, log } = this.#deps;
    const { signal } = stopLoading;
    const runtime = this.#runtimeFor(manifest);
    this.#refuseBeyondCaps(manifest, "as its definition says", entry.estimate);
    entry.files = await files.acquire(manifest, signal, onChange);
    signal.throwIfAborted();
    entry.estimate = await this.#needOf(entry, runtime, signal);
    await this.#room.enter(entry, signal);
    await this.#seekFreeRam(entry, signal);
    signal.throwIfAborted();
    const loaded = await runtime.load(manifest, entry.files.path, signal, entry.ramCeilingBytes);
    if (signal.aborted) {
      await loaded[Symbol.asyncDispose]();
      signal.throwIfAborted();
    }
    entry.loaded = loaded;
    this.#room.arrange();
    onChange();
    log.info({ slug: manifest.slug, estimate: entry.estimate, measured: loaded.memory }, "Cargo loaded");
    void loaded.gone.then(() => this.#unload(entry));
    return loaded;
  }

  #runtimeFor({ runtimeType }: CargoManifest): CargoRuntime {
    const runtime = this.#deps.runtimes.get(runtimeType);
    if (runtime !== undefined) return runtime;
    throw new JobFailure("runtime_unavailable", `This Island does not offer ${runtimeType}`, { retryable: true });
  }

  /** As measured when it was last in memory, else by the runtime's estimate. @throws {JobFailure} when it can never fit. */
  async #needOf(entry: Entry, runtime: CargoRuntime, signal: AbortSignal): Promise<MemoryUse> {
    const { manifest, key, files } = entry;
    const measured = this.#recallMeasured(key);
    const need = measured?.memory ?? (await runtime.estimate(manifest, files?.path ?? null, signal));
    signal.throwIfAborted();
    this.#refuseBeyondCaps(manifest, measured === undefined ? "estimated from its files" : "as measured here", need);
    entry.ramCeilingBytes = measured?.ramCeilingBytes ?? this.#ceilingFor(need);
    return need;
  }

  #ceilingFor({ ramBytes }: MemoryUse): number {
    return Math.min(ramBytes + Math.max(ramBytes, LEAST_SLACK_BYTES), this.#room.caps.ramBytes);
  }

  /** @throws {JobFailure} `out_of_memory`, retryable elsewhere. */
  #refuseBeyondCaps({ slug }: CargoManifest, source: string, need: MemoryUse): void {
    const { caps } = this.#room;
    const refuse = (kind: string, neededBytes: number, capBytes: number): void => {
      if (neededBytes <= capBytes) return;
      const text = `${slug} needs ${formatMibRoundedUp(neededBytes)} of ${kind}, ${source}; this Island has ${formatMibRoundedDown(capBytes)} for Cargos`;
      throw new JobFailure("out_of_memory", text, { retryable: true });
    };
    refuse("RAM", need.ramBytes, caps.ramBytes);
    refuse("VRAM", need.vramBytes, caps.vramBytes);
  }

  #unload(entry: Entry): void {
    this.#forget(entry);
    if (entry.loaded === null || entry.isLeaving) return;
    entry.isLeaving = true;
    this.#noteMeasured(entry, entry.loaded.memory);
    const leaving = this.#dispose(entry, entry.loaded);
    this.#leaving.add(leaving);
    this.#track(leaving.finally(() => this.#leaving.delete(leaving)));
  }

  async #dispose(entry: Entry, loaded: LoadedCargo): Promise<void> {
    try {
      await loaded[Symbol.asyncDispose]();
    } catch (error) {
      this.#deps.log.warn({ slug: entry.manifest.slug, reason: String(error) }, "Cargo did not unload cleanly");
    }
    this.#leaveMemory(entry);
  }

  /** Room within the caps is not all: other programs of the machine may hold its RAM. */
  #seekFreeRam({ manifest, estimate }: Entry, signal: AbortSignal): Promise<void> {
    const { slug, container, requiredRamBytes } = manifest;
    // Of containers one is started now, which the engine holds to the Cargo's figure; the others come with their jobs.
    const needBytes = container === undefined ? estimate.ramBytes : Math.min(requiredRamBytes, estimate.ramBytes);
    const unloadOne = (): void => this.#room.leastRecentlyUsedIdle()?.unload();
    const { freeRamBytes: freeBytes } = this.#deps;
    return seekFreeRam({ slug, needBytes, freeBytes, unloadOne, leaving: this.#leaving }, signal);
  }

  #recallMeasured(key: string): Measured | undefined {
    const measured = this.#measured.get(key);
    const isFresh = measured !== undefined && this.#deps.clock.monotonicMs() - measured.atMs < MEASURED_FOR_MS;
    return isFresh ? measured : undefined;
  }

  #noteMeasured({ key, ramCeilingBytes }: Entry, memory: MemoryUse | null): void {
    if (memory === null) return;
    this.#measured.delete(key);
    this.#measured.set(key, { memory, ramCeilingBytes, atMs: this.#deps.clock.monotonicMs() });
    const [oldest] = this.#measured.keys();
    if (this.#measured.size > MOST_MEASURED && oldest !== undefined) this.#measured.delete(oldest);
  }

  /** Nobody can ask for it any more. */
  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    this.#deps.onChange();
  }

  #leaveMemory(entry: Entry): void {
    entry.files?.release();
    entry.files = null;
    this.#room.leave(entry);
  }

  #isLoaded(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.loaded !== null;
  }

  #track(work: Promise<void>): void {
    this.#ongoing.add(work);
    void work.finally(() => this.#ongoing.delete(work));
  }
}

function closedFailure(): JobFailure {
  return new JobFailure("shutting_down", "The Island is going down", { retryable: true });
}
