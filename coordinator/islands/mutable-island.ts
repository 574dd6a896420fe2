import { isDeepStrictEqual } from "node:util";
import type { Timer } from "../../shared/clock.ts";
import { totalVramBytes, type Hardware } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { Hello, IslandState } from "../../shared/protocol/from-island.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BASE_FEATURES } from "../../shared/features/features.ts";
import type { SchedulerIsland } from "../scheduler/events.ts";
import type { AttemptId, IslandLink, IslandView } from "./island.ts";

/** Maximum number of shared texts. Beyond it, some texts are in memory twice. */
const MAX_TEXTS = 10_000;
/** Maximum characters of a hardware class. */
const MAX_CLASS_CHARS = 300;
/** An empty list that Islands share: most of them report empty lists. */
const NONE: readonly never[] = [];

type StateFacts = Pick<
  SchedulerIsland,
  "cachedModels" | "loaded" | "downloads" | "noSpaceFor" | "engineModels" | "rttMs" | "downloadBytesPerMs"
>;

/**
 * The state behind an {@link IslandView}, held only by `IslandRegistry`. Most Islands are idle, so structures for jobs
 * are created with the first job.
 */
export class MutableIsland implements IslandView {
  readonly hostId: string;
  readonly accountId: string;
  /** Connection to the Island; null while the Island is away and its jobs wait for it. */
  link: IslandLink | null = null;
  /** Timer of the grace period; null while the Island is connected. */
  grace: Timer | null = null;
  /** Round-trip time; null until the first one is measured. */
  rttMs: number | null = null;
  cpuLoad: number | null = null;
  freeRamBytes: number | null = null;
  freeVramBytes: number | null = null;
  temperatureC: number | null = null;
  gpuLoad: number | null = null;
  loading: readonly string[] = NONE;
  readonly #shared: (text: string) => string;
  #facts: SchedulerIsland | null = null;
  /** Attempts that take a slot, by job. A cancelled attempt keeps its slot until the Island confirms. */
  #slots: Map<string, number> | null = null;
  /** Cancelled attempts by job, with the timer within which the Island must confirm. */
  #stopping: Map<string, Timer> | null = null;
  /** Jobs whose cancelled attempts were not confirmed in time. */
  #ignored: Set<string> | null = null;

  /** @param shared From {@link sharedTexts}, the same for all Islands. */
  constructor(hostId: string, accountId: string, shared: (text: string) => string) {
    this.hostId = ownText(hostId);
    this.accountId = accountId;
    this.#shared = shared;
  }

  get isConnected(): boolean {
    return this.link !== null;
  }

  attempts(): AttemptId[] {
    return this.#slots === null ? [] : [...this.#slots].map(([jobId, attempt]) => ({ jobId, attempt }));
  }

  get downloads(): SchedulerIsland["downloads"] {
    return this.#facts?.downloads ?? NONE;
  }

  get policy(): OwnerPolicy | undefined {
    return this.#facts?.policy;
  }

  get features(): readonly string[] {
    return this.#facts?.features ?? NONE;
  }

  get engineModels(): SchedulerIsland["engineModels"] {
    return this.#facts?.engineModels;
  }

  get isBusy(): boolean {
    return this.slotsInUse > 0;
  }

  get slotsInUse(): number {
    return this.#slots?.size ?? 0;
  }

  has({ jobId, attempt }: AttemptId): boolean {
    return this.#slots?.get(jobId) === attempt;
  }

  /** Takes a slot for an attempt. Returns true if an earlier attempt of the same job had the slot. */
  takeSlot({ jobId, attempt }: AttemptId): boolean {
    this.#slots ??= new Map();
    const superseded = this.#slots.has(jobId);
    this.#slots.set(jobId, attempt);
    return superseded;
  }

  freeSlot(jobId: string): void {
    this.#slots?.delete(jobId);
  }

  freeSlots(): void {
    this.#slots = null;
  }

  /** Records a cancelled attempt that must be confirmed before `limit` fires. */
  awaitStop(jobId: string, limit: Timer): void {
    this.forgetStop(jobId);
    this.#stopping ??= new Map();
    this.#stopping.set(jobId, limit);
  }

  /** Records that a cancelled attempt was not confirmed in time. Returns the number of such attempts. */
  ignoreStop(jobId: string): number {
    this.#stopping?.delete(jobId);
    this.#ignored ??= new Set();
    return this.#ignored.add(jobId).size;
  }

  /** Forgets a cancelled attempt that was confirmed or is no longer awaited. */
  forgetStop(jobId: string): void {
    this.#stopping?.get(jobId)?.cancel();
    this.#stopping?.delete(jobId);
    this.#ignored?.delete(jobId);
  }

  forgetStops(): void {
    for (const limit of this.#stopping?.values() ?? NONE) limit.cancel();
    this.#stopping = null;
    this.#ignored = null;
  }

  applyHello({ hardware, benchmark, runtimes, slots, runtimeSlots, draining, policy, features, state }: Hello): void {
    this.#setUsage(state);
    this.#facts = {
      id: this.hostId,
      accountId: this.accountId,
      runtimes: runtimes.map((runtime) => this.#shared(runtime.type) as typeof runtime.type),
      ramBytes: hardware.ramBytes,
      vramBytes: totalVramBytes(hardware),
      hardwareClass: this.#shared(hardwareClassOf(hardware)),
      modelBytesPerMs: benchmark?.modelBytesPerMs,
      slots,
      runtimeSlots,
      draining,
      policy,
      // Agents of earlier versions do not report what the runtimes of every agent can do.
      features: this.#listOf(NONE, [...(features ?? NONE), ...BASE_FEATURES]),
      ...this.#stateFacts(state, null),
    };
  }

  /** Applies a heartbeat. Returns true if facts for the scheduler or the loading Cargos changed. */
  update(state: IslandState): boolean {
    const { loading } = this;
    this.#setUsage(state);
    const before = this.facts();
    const now = this.#stateFacts(state, before);
    if (hasSameFacts(before, now)) return this.loading !== loading;
    this.#facts = { ...before, ...now };
    return true;
  }

  setDraining(draining: boolean): void {
    this.#facts = { ...this.facts(), draining };
  }

  /** Returns the facts for the scheduler. @throws before the first `hello`. */
  facts(): SchedulerIsland {
    if (this.#facts === null) throw new Error(`Island ${this.hostId} has not sent hello`);
    return this.#facts;
  }

  /** Stores values that do not affect scheduling. */
  #setUsage({ cpuLoad, freeRamBytes, freeVramBytes, temperatureC = null, gpuLoad = null, loading }: IslandState): void {
    this.cpuLoad = cpuLoad;
    this.temperatureC = temperatureC;
    this.gpuLoad = gpuLoad;
    this.loading = this.#listOf(this.loading, loading ?? NONE);
    this.freeRamBytes = freeRamBytes;
    this.freeVramBytes = freeVramBytes;
  }

  #stateFacts(state: IslandState, before: SchedulerIsland | null): StateFacts {
    const { cachedModels, loaded, downloads, noSpaceFor = NONE, engineModels } = state;
    const models = cachedModels.map(({ key }) => key);
    return {
      cachedModels: this.#listOf(before?.cachedModels, models),
      loaded: this.#listOf(before?.loaded, loaded),
      downloads:
        downloads.length === 0
          ? NONE
          : downloads.map(({ slug, ...metrics }) => ({ slug: this.#shared(slug), ...metrics })),
      noSpaceFor: this.#listOf(before?.noSpaceFor, noSpaceFor),
      // The previous list marks an unchanged one.
      engineModels: isDeepStrictEqual(before?.engineModels, engineModels) ? before?.engineModels : engineModels,
      rttMs: this.rttMs,
      downloadBytesPerMs: downloadSpeedOf(downloads) ?? before?.downloadBytesPerMs,
    };
  }

  /** Returns the previous list if it is unchanged, so that no part of the frame stays in memory. */
  #listOf(before: readonly string[] = NONE, reported: readonly string[]): readonly string[] {
    if (reported.length === before.length && reported.every((text, index) => text === before[index])) return before;
    return reported.map((text) => this.#shared(text));
  }
}

/**
 * Returns true if two reports have the same models, and round-trip times of the same magnitude. Lists are compared by
 * identity, because a report that repeats the previous one shares its lists.
 */
function hasSameFacts(a: StateFacts, b: StateFacts): boolean {
  const hasSameModels = a.cachedModels === b.cachedModels && a.loaded === b.loaded && a.downloads === b.downloads;
  const hasSameEngines = a.engineModels === b.engineModels;
  return hasSameModels && hasSameEngines && a.noSpaceFor === b.noSpaceFor && doublingsOf(a) === doublingsOf(b);
}

function doublingsOf({ rttMs }: StateFacts): number | null {
  return rttMs === null ? null : Math.round(Math.log2(Math.max(rttMs, 1)));
}

/** Returns the speed of the fastest download in bytes for each ms; undefined if none is known. */
function downloadSpeedOf(downloads: IslandState["downloads"]): number | undefined {
  const speeds = downloads.flatMap(({ bytesPerSecond }) => bytesPerSecond ?? []);
  return speeds.length === 0 ? undefined : Math.max(1, ...speeds) / 1_000;
}

/** Returns a text that is equal for hosts whose hardware should be equally fast. */
function hardwareClassOf({ arch, cpuModel, logicalCores, gpus }: Hardware): string {
  const processor = `${arch} ${cpuModel ?? ""} ${logicalCores}`;
  return [processor, ...gpus.map(({ name }) => name).sort()].join(" + ").slice(0, MAX_CLASS_CHARS);
}

/** Copies a text of a frame. A substring would keep the whole frame in memory. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}

/** Deduplicates texts that many Islands report, such as model names. */
export function sharedTexts(): (text: string) => string {
  const texts = recentMap<string>(MAX_TEXTS);
  return (text) => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    const own = ownText(text);
    texts.set(own, own);
    return own;
  };
}
