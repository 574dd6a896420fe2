import type { CargoManifest } from "../../../shared/cargo.ts";
import {
  Scheduler,
  type SchedulerEffect,
  type SchedulerIsland,
  type WaitingJob,
} from "../../../coordinator/scheduler/scheduler.ts";

export const GB = 1_024 ** 3;
export const MINUTE_MS = 60_000;
/** A whole minute, so that jobs of the first 59 s share a band. */
export const START_MS = 1_700_000_040_000;

export function makeCargo(override: Partial<CargoManifest> = {}): CargoManifest {
  return {
    slug: "llama",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: { url: "hf:owner/repo", sha256: null, sizeBytes: null },
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: null,
    ...override,
  };
}

export function makeIsland(override: Partial<SchedulerIsland> = {}): SchedulerIsland {
  return {
    id: "isle-1",
    accountId: "owner_1",
    runtimes: ["llmcpp"],
    ramBytes: 16 * GB,
    vramBytes: 0,
    slots: 1,
    draining: false,
    cachedModels: [],
    loaded: [],
    downloads: [],
    cpuLoad: null,
    rttMs: null,
    ...override,
  };
}

export function makeJob(override: Partial<WaitingJob> = {}): WaitingJob {
  return {
    id: "job_1",
    accountId: "user_1",
    slug: "llama",
    onlyIslandsOf: null,
    priority: 50,
    createdAtMs: START_MS + 1,
    avoidIslands: [],
    ...override,
  };
}

/** A scheduler over a few Cargos, with short words for what happens to it. */
export class Bench {
  readonly scheduler: Scheduler;
  readonly catalog: Map<string, CargoManifest>;
  /** How often the scheduler asked the catalog. */
  lookUps = 0;

  constructor(cargos: readonly CargoManifest[] = [makeCargo()]) {
    this.catalog = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
    this.scheduler = new Scheduler((slug) => {
      this.lookUps += 1;
      return this.catalog.get(slug);
    });
  }

  submit(override: Partial<WaitingJob> = {}): string[] {
    return show(this.scheduler.step({ kind: "job_waiting", job: makeJob(override) }, START_MS));
  }

  cancel(jobId: string): string[] {
    return show(this.scheduler.step({ kind: "job_gone", jobId }, START_MS));
  }

  up(override: Partial<SchedulerIsland> = {}, busy = 0): string[] {
    return show(this.scheduler.step({ kind: "island_up", island: makeIsland(override), busy }, START_MS));
  }

  change(override: Partial<SchedulerIsland> = {}): string[] {
    return show(this.scheduler.step({ kind: "island_changed", island: makeIsland(override) }, START_MS));
  }

  down(islandId: string): string[] {
    return show(this.scheduler.step({ kind: "island_down", islandId }, START_MS));
  }

  free(islandId = "isle-1"): string[] {
    return show(this.scheduler.step({ kind: "slot_freed", islandId }, START_MS));
  }

  measure(islandId: string, tokensPerSecond: number | null, succeeded = true): string[] {
    return show(
      this.scheduler.step({ kind: "measured", islandId, slug: "llama", tokensPerSecond, succeeded }, START_MS),
    );
  }

  changeCargo(cargo: CargoManifest): string[] {
    this.catalog.set(cargo.slug, cargo);
    return show(this.scheduler.step({ kind: "cargo_changed", slug: cargo.slug }, START_MS));
  }

  /** Frees the slot of `islandId` until nothing waits for it: the jobs in the order in which they were served. */
  drain(islandId = "isle-1"): string[] {
    const order: string[] = [];
    for (let served = this.free(islandId); served.length > 0; served = this.free(islandId)) {
      order.push(...served.map((assignment) => assignment.split(" ")[0] ?? ""));
    }
    return order;
  }
}

/** "job_1 on isle-1" */
function show(effects: readonly SchedulerEffect[]): string[] {
  return effects.map(({ jobId, islandId }) => `${jobId} on ${islandId}`);
}
