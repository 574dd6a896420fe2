import { hostname } from "node:os";
import type { RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { KIB } from "../../shared/format-bytes.ts";
import type { Hardware } from "../../shared/hardware.ts";
import { CARGO_FEATURES, SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import { AGENT_FEATURES } from "../../shared/features/features.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { QuarantineNotice } from "../../shared/protocol/from-coordinator.ts";
import type { Benchmark, Hello, IslandState, RuntimeReport } from "../../shared/protocol/from-island.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import { memoryCapsOf } from "../hardware/memory-caps.ts";
import type { EngineStatus } from "../runtimes/engine/attached-engine.ts";
import type { Engines } from "../runtimes/engine/engines.ts";
import type { PreloadStatus } from "../preload/preloader.ts";
import type { Outbox } from "../session/outbox.ts";
import type { CargoPool, LoadedReport } from "./cargo-pool.ts";
import type { Executor, ExecutorCounts } from "./executor.ts";

export type LinkState = "connecting" | "connected" | "waiting" | "stopped";

export type UsageReport = Pick<IslandState, "cpuLoad" | "freeRamBytes" | "freeVramBytes" | "temperatureC" | "gpuLoad">;

/** Status of the agent, as shown by `island status`. */
export interface AgentStatus {
  readonly link: LinkState;
  readonly coordinatorUrl: string;
  readonly hostId: string;
  /** Why the Island accepts no new jobs; null while it does. */
  readonly closedBecause: string | null;
  readonly isPaused?: boolean;
  /** Open hours as in the settings; null for day and night. Absent, like `isPaused`, in agents of earlier versions. */
  readonly hours?: string | null;
  /** Set while the coordinator assigns no jobs because several in a row failed; null otherwise. */
  readonly quarantine: QuarantineNotice | null;
  readonly slots: number;
  /** The owner's policy. Absent in agents of earlier versions. */
  readonly policy?: OwnerPolicy;
  readonly runtimes: readonly RuntimeReport[];
  /** Engines of the host. Absent in agents of earlier versions. */
  readonly engines?: readonly EngineStatus[];
  readonly loaded: readonly LoadedReport[];
  /** Downloads, as in reports to the coordinator. Absent in agents of earlier versions. */
  readonly downloads?: IslandState["downloads"];
  readonly loading?: readonly string[];
  /** Memory limit for all Cargos together; `vramBytes` is null when unknown. */
  readonly memoryCaps: { readonly ramBytes: number; readonly vramBytes: number | null };
  readonly running: ReturnType<Executor["running"]>;
  readonly counts: ExecutorCounts;
  /** Load, as last reported to the coordinator. Absent in agents of earlier versions. */
  readonly usage?: UsageReport;
  /** Null when preloading is off. */
  readonly preload: PreloadStatus | null;
  readonly reconnects: number;
  readonly lastProblem: string | null;
}

export interface IslandFacts {
  readonly hostId: string;
  readonly version: string;
  readonly slots: () => number;
  /** Jobs of the runtimes at the same time. */
  readonly runtimeSlots: () => number;
  readonly policy: () => OwnerPolicy;
  readonly hardware: () => Hardware;
  readonly benchmark?: Benchmark | undefined;
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly version: string }>;
  readonly usage: () => UsageReport;
  readonly files: Pick<CargoFiles, "cachedModels" | "downloads" | "noSpaceFor">;
  readonly engines: Pick<Engines, "reports" | "spawns" | "status">;
  readonly pool: Pick<CargoPool, "loaded" | "loading">;
  readonly executor: Pick<Executor, "running" | "counts" | "working">;
  readonly outbox: Pick<Outbox, "held">;
  /** Absent if the Island does not fetch files for jobs. */
  readonly fetchFiles?: object | undefined;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Limits of lists and texts in a report. Source: shared/protocol/from-island.ts, island-protocol.md "Limits". */
const MAX_LENGTHS = {
  cachedModels: 10_000,
  loaded: 1_000,
  loading: 1_000,
  downloads: 1_000,
  working: 1_000,
  version: 100,
} as const;

/** Bytes for cached models in a report of 256 KiB. The rest is for downloads, loaded Cargos and hardware. */
const MAX_CACHED_BYTES = 160 * KIB;
/** Bytes that a model takes in a frame in addition to its key: field names and size. */
const CACHED_MODEL_BYTES = 24;

/** Returns the first models that fit a report. The coordinator does not see the others, and may request one again. */
function thatFit(models: IslandState["cachedModels"]): IslandState["cachedModels"] {
  let bytes = 0;
  return models.filter(({ key }) => (bytes += Buffer.byteLength(key) + CACHED_MODEL_BYTES) <= MAX_CACHED_BYTES);
}

/** Maximum length of a domain name. Source: RFC 1035. */
const MAX_HOST_NAME = 253;

/** Describes the Island, to the coordinator in `hello` and `heartbeat` frames and to its owner. */
export class IslandReports {
  readonly #facts: IslandFacts;
  #usage: UsageReport | null = null;
  #quarantine: { readonly notice: QuarantineNotice; readonly atMs: number } | null = null;

  constructor(facts: IslandFacts) {
    this.#facts = facts;
  }

  /** Records a quarantine notice of the coordinator; null ends it, undefined changes nothing. */
  recordQuarantine(notice: QuarantineNotice | null | undefined): void {
    if (notice === undefined) return;
    this.#quarantine = notice === null ? null : { notice, atMs: this.#facts.clock.monotonicMs() };
  }

  hello(isDraining: boolean): Hello {
    const { hostId, version, slots, runtimeSlots, policy, hardware, benchmark, outbox, fetchFiles, engines } =
      this.#facts;
    // Only engines read images, and only the runtime llmcpp reads answers. A command of the owner replaces the runtime.
    const chats = AGENT_FEATURES.filter((name) => name !== (engines.spawns ? "chat.read" : "chat.images"));
    return {
      type: "hello",
      hostId,
      agentVersion: version,
      hostName: hostname().slice(0, MAX_HOST_NAME),
      hardware: hardware(),
      ...(benchmark === undefined ? {} : { benchmark }),
      runtimes: this.#runtimes(),
      slots: slots(),
      ...(runtimeSlots() < slots() ? { runtimeSlots: runtimeSlots() } : {}),
      draining: isDraining,
      held: outbox.held(),
      state: this.state(),
      policy: policy(),
      features: [...chats, ...CARGO_FEATURES, SEEDED_FEATURE, ...(fetchFiles === undefined ? [] : [FILES_FEATURE])],
    };
  }

  /** Returns the state that changes while the Island is connected. */
  state(): IslandState {
    const { files, usage, pool, executor, engines } = this.#facts;
    const engineModels = engines.reports();
    const slugs = pool.loaded().map(({ slug }) => slug);
    this.#usage = usage();
    return {
      ...this.#usage,
      cachedModels: thatFit(files.cachedModels().slice(0, MAX_LENGTHS.cachedModels)),
      loaded: [...new Set(slugs)].slice(0, MAX_LENGTHS.loaded),
      loading: pool.loading().slice(0, MAX_LENGTHS.loading),
      downloads: files.downloads().slice(0, MAX_LENGTHS.downloads),
      noSpaceFor: files.noSpaceFor(),
      ...(engineModels.length === 0 ? {} : { engineModels }),
      working: executor.working().slice(0, MAX_LENGTHS.working),
    };
  }

  /** Returns the part of the owner's status that does not depend on the session. */
  status(): Pick<
    AgentStatus,
    | "hostId"
    | "slots"
    | "quarantine"
    | "policy"
    | "runtimes"
    | "engines"
    | "loaded"
    | "loading"
    | "downloads"
    | "memoryCaps"
    | "running"
    | "counts"
    | "usage"
  > {
    const { hostId, slots, policy, pool, hardware, executor, files } = this.#facts;
    const { ramBytes, vramBytes } = memoryCapsOf(hardware());
    return {
      hostId,
      slots: slots(),
      policy: policy(),
      quarantine: this.#quarantineNow(),
      runtimes: this.#runtimes(),
      engines: this.#facts.engines.status(),
      loaded: pool.loaded(),
      loading: pool.loading(),
      downloads: files.downloads(),
      memoryCaps: { ramBytes, vramBytes: Number.isFinite(vramBytes) ? vramBytes : null },
      running: executor.running(),
      counts: { ...executor.counts },
      // Measuring here would shorten the interval that the next report measures.
      usage: (this.#usage ??= this.#facts.usage()),
    };
  }

  #quarantineNow(): QuarantineNotice | null {
    if (this.#quarantine === null) return null;
    const { notice, atMs } = this.#quarantine;
    const forMs = Math.max(0, Math.round(notice.forMs - (this.#facts.clock.monotonicMs() - atMs)));
    return { ...notice, forMs };
  }

  #runtimes(): RuntimeReport[] {
    return [...this.#facts.runtimes].map(([type, { version }]) => ({
      type,
      version: version.slice(0, MAX_LENGTHS.version),
    }));
  }
}
