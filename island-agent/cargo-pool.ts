import { modelKey, type CargoManifest, type RuntimeType } from "../shared/cargo.ts";
import type { Clock } from "../shared/clock.ts";
import { JobFailure } from "../shared/errors.ts";
import type { AgentLog } from "./agent-log.ts";
import type { ModelLease, ModelStore } from "./models/model-store.ts";
import { orAbort } from "./or-abort.ts";
import type { CargoRuntime, LoadedCargo } from "./runtimes/runtime.ts";
import { WaitingLine } from "./waiting-line.ts";

export interface CargoPoolDeps {
  readonly runtimes: ReadonlyMap<RuntimeType, CargoRuntime>;
  readonly models: Pick<ModelStore, "acquire">;
  readonly clock: Clock;
  /** RAM that all Cargos in memory may take together. */
  readonly ramBytes: number;
  readonly log: AgentLog;
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
  /** Order of use, higher is later. */
  lastUse: number;
  loaded: LoadedCargo | null;
  model: ModelLease | null;
  isLeaving: boolean;
}

/** A Cargo that waits for room in memory. */
interface RoomWait {
  readonly entry: Entry;
  readonly sinceMs: number;
}

/**
 * A Cargo that has waited for room so long goes before new jobs of the Cargos in memory: these would otherwise keep theirs
 * busy, and it out, for ever.
 */
const ROOM_PATIENCE_MS = 10_000;

/**
 * Cargos in memory: each is loaded once however many jobs ask. What does not fit waits, first come first served, until idle
 * Cargos can make room, least recently used first; nothing that a job uses is unloaded.
 */
export class CargoPool {
  readonly #deps: CargoPoolDeps;
  /** What jobs may ask for: on its way, or in memory. */
  readonly #entries = new Map<string, Entry>();
  /** What takes memory: from the start of its load to the end of its disposal. */
  readonly #inMemory = new Set<Entry>();
  readonly #line = new WaitingLine<RoomWait>();
  /** Loads and disposals under way; they never reject. */
  readonly #ongoing = new Set<Promise<void>>();
  #uses = 0;
  #isClosed = false;

  constructor(deps: CargoPoolDeps) {
    this.#deps = deps;
  }

  /** Slugs of the Cargos in memory. */
  loaded(): string[] {
    return [...this.#entries.values()].filter((entry) => entry.loaded !== null).map((entry) => entry.manifest.slug);
  }

  /** Waits for download, room and load. @throws {JobFailure} or `signal.reason`. */
  async acquire(manifest: CargoManifest, signal: AbortSignal): Promise<CargoLease> {
    signal.throwIfAborted();
    const key = `${manifest.slug} ${manifest.model === null ? "" : modelKey(manifest.model)}`;
    while (this.#isRoomOverdue() && this.#isLoaded(key)) await orAbort(this.#line.moved(), signal);
    if (this.#isClosed) throw closedFailure();
    const entry = this.#entries.get(key) ?? this.#load(key, manifest);
    entry.users += 1;
    const release = this.#releaseOnce(entry);
    try {
      return { cargo: await orAbort(entry.loading, signal), release };
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
      if (entry.users > 0) return;
      if (entry.loaded !== null) return this.#makeRoom();
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
      users: 0,
      lastUse: this.#uses++,
      loaded: null,
      model: null,
      isLeaving: false,
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
    const { models, onChange, log } = this.#deps;
    const { signal } = stopLoading;
    const runtime = this.#runtimeFor(manifest);
    if (manifest.model !== null) entry.model = await models.acquire(manifest.slug, manifest.model, signal, onChange);
    signal.throwIfAborted();
    await this.#takeRoom(entry);
    signal.throwIfAborted();
    const loaded = await runtime.load(manifest, entry.model?.path ?? null, signal);
    if (signal.aborted) {
      await loaded[Symbol.asyncDispose]();
      signal.throwIfAborted();
    }
    entry.loaded = loaded;
    onChange();
    log.info({ slug: manifest.slug, memory: loaded.memory }, "Cargo loaded");
    void loaded.gone.then(() => this.#unload(entry));
    return loaded;
  }

  /** @throws {JobFailure} when this Island can never run the Cargo. */
  #runtimeFor({ runtimeType, requiredRamBytes }: CargoManifest): CargoRuntime {
    const runtime = this.#deps.runtimes.get(runtimeType);
    if (runtime === undefined) {
      throw new JobFailure("runtime_unavailable", `This Island does not offer ${runtimeType}`, { retryable: true });
    }
    if (requiredRamBytes > this.#deps.ramBytes) {
      const text = `The Cargo needs ${requiredRamBytes} bytes of RAM; this Island has ${this.#deps.ramBytes} for Cargos`;
      throw new JobFailure("out_of_memory", text, { retryable: true });
    }
    return runtime;
  }

  /** Resolves when the Cargo's memory is counted as its own. */
  async #takeRoom(entry: Entry): Promise<void> {
    const turn = this.#line.wait({ entry, sinceMs: this.#deps.clock.monotonicMs() }, entry.stopLoading.signal);
    this.#makeRoom();
    await turn;
  }

  /** Lets in whoever fits, in order, and unloads idle Cargos where that makes the first one fit. */
  #makeRoom(): void {
    for (let first = this.#line.first; first !== undefined; first = this.#line.first) {
      const missingBytes = this.#takenBytes() + first.entry.manifest.requiredRamBytes - this.#deps.ramBytes;
      if (missingBytes > 0) return this.#unloadIdle(missingBytes);
      this.#inMemory.add(first.entry);
      this.#line.admitFirst();
    }
  }

  /** Unloads as few as give `bytes` back with those that are leaving already, and none when all of them do not suffice. */
  #unloadIdle(bytes: number): void {
    const inMemory = [...this.#inMemory];
    let freeBytes = sumOf(inMemory.filter((entry) => entry.isLeaving));
    const chosen: Entry[] = [];
    const idle = inMemory.filter((entry) => entry.loaded !== null && entry.users === 0 && !entry.isLeaving);
    for (const entry of idle.sort((a, b) => a.lastUse - b.lastUse)) {
      if (freeBytes >= bytes) break;
      chosen.push(entry);
      freeBytes += sizeOf(entry);
    }
    if (freeBytes < bytes) return;
    for (const entry of chosen) this.#unload(entry);
  }

  #unload(entry: Entry): void {
    this.#forget(entry);
    if (entry.loaded === null || entry.isLeaving) return;
    entry.isLeaving = true;
    this.#track(this.#dispose(entry, entry.loaded));
  }

  async #dispose(entry: Entry, loaded: LoadedCargo): Promise<void> {
    try {
      await loaded[Symbol.asyncDispose]();
    } catch (error) {
      this.#deps.log.warn({ slug: entry.manifest.slug, reason: String(error) }, "Cargo did not unload cleanly");
    }
    this.#leaveMemory(entry);
  }

  /** Nobody can ask for it any more. */
  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    this.#deps.onChange();
  }

  #leaveMemory(entry: Entry): void {
    entry.model?.release();
    entry.model = null;
    this.#inMemory.delete(entry);
    this.#makeRoom();
  }

  #isLoaded(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.loaded !== null;
  }

  #isRoomOverdue(): boolean {
    const { first } = this.#line;
    return first !== undefined && this.#deps.clock.monotonicMs() - first.sinceMs >= ROOM_PATIENCE_MS;
  }

  #takenBytes(): number {
    return sumOf([...this.#inMemory]);
  }

  #track(work: Promise<void>): void {
    this.#ongoing.add(work);
    void work.finally(() => this.#ongoing.delete(work));
  }
}

/** Measured where known, else as the Cargo says. */
function sizeOf(entry: Entry): number {
  return entry.loaded?.memory?.ramBytes ?? entry.manifest.requiredRamBytes;
}

function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
}

function closedFailure(): JobFailure {
  return new JobFailure("shutting_down", "The Island is going down", { retryable: true });
}
