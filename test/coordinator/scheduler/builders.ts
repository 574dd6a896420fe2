import type { KnownCargo } from "../../../coordinator/scheduler/fit.ts";
import { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type {
  Choice,
  RunTokens,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerIsland,
  WaitingJob,
} from "../../../coordinator/scheduler/events.ts";

export const GB = 1_024 ** 3;
export const MINUTE_MS = 60_000;
export const START_MS = 1_700_000_040_000;

export function makeCargo(override: Partial<KnownCargo> = {}): KnownCargo {
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
    rttMs: null,
    ...override,
  };
}

export function makeJob(override: Partial<WaitingJob> = {}): WaitingJob {
  return {
    id: "job_1",
    accountId: "user_1",
    share: 100,
    slug: "llama",
    jobClass: "batch",
    onlyIslandsOf: null,
    priority: 50,
    createdAtMs: START_MS + 1,
    waitLimitMs: 60 * MINUTE_MS,
    avoidIslands: [],
    ...override,
  };
}

/** The rules of production, with fixed times for the circuit breakers. */
export const SCHEDULER_RULES = [0.5, 0.02, 1_000, (): number => 0.999_999] as const;

/** Parameters of the scheduler under test. */
interface Rules {
  readonly random: () => number;
  readonly mayRunElsewhere: Scheduler["mayRunElsewhere"];
}

/** A scheduler over a few Cargos, with short methods for its events. Only `pass` advances its clock. */
export class Bench {
  readonly scheduler: Scheduler;
  readonly catalog: Map<string, KnownCargo>;
  /** Number of catalog lookups by the scheduler. */
  lookUps = 0;
  nowMs = 0;
  /** Why the Island of each job was chosen, by job. */
  readonly choices = new Map<string, Choice>();
  readonly #islandIds = new Set<string>();
  /** Jobs on each Island, in order of arrival. */
  readonly #running = new Map<string, string[]>();
  readonly quarantines: Extract<SchedulerEffect, { kind: "quarantine" }>[] = [];

  constructor(cargos: readonly KnownCargo[] = [makeCargo()], rules: Partial<Rules> = {}) {
    this.catalog = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
    const [chatShare, trialShare, firstOpenMs, random] = SCHEDULER_RULES;
    const find = (slug: string): KnownCargo | undefined => {
      this.lookUps += 1;
      return this.catalog.get(slug);
    };
    this.scheduler = new Scheduler(
      find,
      chatShare,
      trialShare,
      firstOpenMs,
      rules.random ?? random,
      rules.mayRunElsewhere,
    );
  }

  /** Passes an event to the scheduler. Returns the assignments as "job_1 on isle-1". */
  step(event: SchedulerEvent): string[] {
    const effects = this.scheduler.step(event, this.nowMs);
    this.quarantines.push(...effects.filter((effect) => effect.kind === "quarantine"));
    return effects.flatMap((effect) => {
      if (effect.kind !== "assign") return [];
      const { jobId, islandId, choice } = effect;
      this.choices.set(jobId, choice);
      this.#running.set(islandId, [...this.running(islandId), jobId]);
      return [`${jobId} on ${islandId}`];
    });
  }

  /** Ids of the Islands that came up, whether they left or not. */
  get islandIds(): readonly string[] {
    return [...this.#islandIds];
  }

  running(islandId = "isle-1"): readonly string[] {
    return this.#running.get(islandId) ?? [];
  }

  submit(override: Partial<WaitingJob> = {}): string[] {
    return this.step({ kind: "job_waiting", job: makeJob(override) });
  }

  cancel(jobId: string): string[] {
    return this.step({ kind: "job_gone", jobId });
  }

  up(override: Partial<SchedulerIsland> = {}, busy = 0): string[] {
    const island = makeIsland(override);
    this.#islandIds.add(island.id);
    return this.step({ kind: "island_up", island, busy });
  }

  change(override: Partial<SchedulerIsland> = {}): string[] {
    return this.step({ kind: "island_changed", island: makeIsland(override) });
  }

  down(islandId: string): string[] {
    this.#running.delete(islandId);
    return this.step({ kind: "island_down", islandId });
  }

  /** Ends a job of the Island. Default: the job that the Island has had for the longest time. */
  free(islandId = "isle-1", jobId = this.running(islandId)[0] ?? "job_of_before"): string[] {
    this.#running.set(
      islandId,
      this.running(islandId).filter((id) => id !== jobId),
    );
    return this.step({ kind: "slot_freed", islandId, jobId });
  }

  /** Ends a chat of an Island: `readMs` until its first output, then `tokenMs` for each later token. */
  finishChat(
    islandId: string,
    jobId: string,
    { readMs, tokenMs, tokens }: { readMs: number; tokenMs: number; tokens: RunTokens },
  ): string[] {
    this.nowMs += readMs;
    this.step({ kind: "first_output", islandId, jobId });
    this.nowMs += tokenMs * (tokens.output - 1);
    this.step({ kind: "run_ended", islandId, jobId, slug: "llama", succeeded: true, tokens });
    return this.free(islandId, jobId);
  }

  offer(override: Partial<WaitingJob> = {}): string[] {
    return this.step({ kind: "job_offered", job: makeJob(override) });
  }

  /** Counts a run without its slot. */
  succeed(islandId: string, slug = "llama"): string[] {
    return this.step({ kind: "run_ended", islandId, jobId: "job_of_before", slug, succeeded: true, tokens: null });
  }

  fail(islandId: string, override: Partial<Extract<SchedulerEvent, { kind: "failure" }>> = {}): string[] {
    const code = override.cause === "refused" ? "shutting_down" : "model_unavailable";
    const failed = { kind: "failure", islandId, slug: "llama", accountId: "user_1", cause: "failed", code } as const;
    return this.step({ ...failed, ...override });
  }

  changeCargo(cargo: KnownCargo): string[] {
    this.catalog.set(cargo.slug, cargo);
    return this.step({ kind: "cargo_changed", slug: cargo.slug });
  }

  /** Advances the clock and wakes the scheduler whenever it is due. */
  pass(ms: number): string[] {
    const untilMs = this.nowMs + ms;
    const served: string[] = [];
    for (let wakeMs = this.scheduler.nextWakeMs; wakeMs !== null && wakeMs <= untilMs;) {
      this.nowMs = Math.max(this.nowMs, wakeMs);
      served.push(...this.step({ kind: "time_passed" }));
      wakeMs = this.scheduler.nextWakeMs;
    }
    this.nowMs = untilMs;
    return served;
  }

  /**
   * Frees the slot of `islandId` after `runMs` each time, until no job waits for it. Returns the jobs in order of
   * service.
   */
  drain(islandId = "isle-1", runMs = 1_000): string[] {
    const order: string[] = [];
    for (;;) {
      this.nowMs += runMs;
      const served = this.free(islandId);
      if (served.length === 0) return order;
      order.push(...served.map((assignment) => assignment.split(" ")[0] ?? ""));
    }
  }
}
