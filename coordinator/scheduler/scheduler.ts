import { recentMap } from "../../shared/recent-map.ts";
import type { Quarantine, SchedulerEffect, SchedulerEvent, SchedulerIsland, WaitingJob, WorkKind } from "./events.ts";
import {
  type AskElsewhere,
  type Cause,
  explainUnknownCargo,
  explainWait,
  reasonElsewhere,
  type Waiting,
} from "./explain.ts";
import { endsFirst, type CircuitBreaker } from "./circuit-breaker.ts";
import { sharedWork, type SharedWork } from "./shared-work.ts";
import { IndexedHeap } from "./indexed-heap.ts";
import type { KnownCargo } from "./fit.ts";
import { islandIndices, type IslandIndices } from "./island-indices.ts";
import { IslandRecord, breakerPoliciesOf, type BreakerPolicies } from "./island-record.ts";
import type { JobKind, JobQueue, QueuedJob } from "./job-queue.ts";
import { OnlineIsland } from "./online-island.ts";
import { WaitingJobs } from "./waiting-jobs.ts";

/** Maximum number of offline Islands whose records are kept. */
const MAX_REMEMBERED_ISLANDS = 10_000;

type SlotFreed = Extract<SchedulerEvent, { kind: "slot_freed" | "slot_superseded" }>;

/**
 * Decides which Island runs which job. Deterministic: the same events, times and `random` have the same effects.
 * After every step no job waits while an Island that it may use has a free slot. Rules: docs/internals/scheduler.md
 */
export class Scheduler {
  /** Work that other coordinators may take from here, and slots that are free for their jobs. */
  readonly shared: SharedWork;
  /** Returns true if another coordinator may have Islands for jobs of that kind. */
  readonly mayRunElsewhere: (kind: WorkKind) => boolean;
  readonly #policy: BreakerPolicies;
  readonly #waiting: WaitingJobs;
  readonly #islands = new Map<string, OnlineIsland>();
  readonly #indices: IslandIndices;
  /** Number of online Islands that have each model or image on disk, by cache key. */
  readonly #holders = new Map<string, number>();
  /** Records of offline Islands, by id. */
  readonly #away = recentMap<IslandRecord>(MAX_REMEMBERED_ISLANDS);
  /** Open breakers of online Islands. The breaker that admits a probe first is first. */
  readonly #breakers = new IndexedHeap<CircuitBreaker>(endsFirst);
  #nowMs = 0;

  /**
   * @param cargoOf Looks up the catalog. When its result for a slug changes, `cargo_changed` must follow.
   * @param chatShare Share of slot time for chats; see `JobClasses`.
   * @param firstOpenMs, random See `breakerPoliciesOf`.
   */
  constructor(
    cargoOf: (slug: string) => KnownCargo | undefined,
    chatShare: number,
    firstOpenMs: number,
    random: () => number,
    mayRunElsewhere: (kind: WorkKind) => boolean = () => false,
  ) {
    this.#policy = breakerPoliciesOf(firstOpenMs, random);
    this.mayRunElsewhere = mayRunElsewhere;
    this.#waiting = new WaitingJobs(chatShare, (id) => this.#islands.has(id), mayRunElsewhere);
    this.#indices = islandIndices(cargoOf, this.#islands, () => this.#waiting.queues);
    this.shared = sharedWork(this.#waiting, this.#indices, this.#islands);
  }

  /** Applies an event and returns its effects. `nowMs` must not decrease: take it from a monotonic clock. */
  step(event: SchedulerEvent, nowMs: number): SchedulerEffect[] {
    this.#nowMs = nowMs;
    switch (event.kind) {
      case "job_offered":
        return this.#hasFreeSlot(event.job) ? this.#enqueue(event.job) : [];
      case "job_waiting":
        return this.#enqueue(event.job);
      case "job_gone":
        this.#waiting.remove(event.jobId);
        return [];
      case "job_stays":
        return this.#serveQueues(this.#waiting.readmit(event.jobId));
      case "island_up":
        return this.#raiseIsland(event.island, event.busy);
      case "island_changed":
        return this.#changeIsland(event.island);
      case "island_down":
        this.#dropIsland(event.islandId);
        return this.#serveAvoiding();
      case "slot_freed":
      case "slot_superseded":
        return this.#freeSlot(event);
      case "failure":
        return this.#recordFailure(event);
      case "measured":
        return this.#addRun(event);
      case "cargo_changed":
        return this.#changeCargo(event.slug);
      case "time_passed":
        return [...this.#expireBreakers(), ...this.#serveQueues(this.#waiting.endAvoidance(nowMs))];
      default:
        return event satisfies never;
    }
  }

  /** Time at which `time_passed` is due; null if nothing is due later. */
  get nextWakeMs(): number | null {
    const atMs = Math.min(this.#breakers.peek()?.untilMs ?? Infinity, this.#waiting.nextAvoidanceEndMs ?? Infinity);
    return atMs === Infinity ? null : atMs;
  }

  /** Returns why a job waits; null if it does not. The cost grows with the accounts whose jobs wait for its Cargo. */
  explain(jobId: string): Waiting | null {
    const job = this.#waiting.get(jobId);
    if (job === undefined) return null;
    return { ...this.#causeFor(job.kind), position: this.#waiting.positionOf(job) };
  }

  /** Counts waiting jobs by the reason why they wait. The cost grows with the number of kinds, not of jobs. */
  waitsByReason(elsewhere: AskElsewhere): ReadonlyMap<Waiting["reason"], number> {
    const counts = new Map<Waiting["reason"], number>();
    for (const { kind, size } of this.#waiting.queues) {
      const reason = reasonElsewhere(this.#causeFor(kind).reason, elsewhere(kind));
      counts.set(reason, (counts.get(reason) ?? 0) + size);
    }
    return counts;
  }

  /** Returns true if an Island outside of `avoid` fits jobs of that kind, free or not. */
  hasIslandFor(kind: WorkKind, avoid: ReadonlySet<string>): boolean {
    return this.#indices.hasFitOutside(kind, avoid);
  }

  /** Counts waiting jobs by slug, without Cargos that have no waiting jobs. */
  queuedDemand(): ReadonlyMap<string, number> {
    return this.#waiting.countBySlug();
  }

  /** Returns a function that counts the online Islands, except `exceptId`, that have a model or image on disk. */
  holdersOf(exceptId: string): (cacheKey: string) => number {
    const own = new Set(this.#islands.get(exceptId)?.info.cachedModels);
    return (cacheKey) => (this.#holders.get(cacheKey) ?? 0) - (own.has(cacheKey) ? 1 : 0);
  }

  /** Returns the quarantine of an Island; null if it is not in quarantine. */
  quarantineOf(islandId: string, nowMs: number): Quarantine | null {
    return this.#recordOf(islandId)?.quarantineAt(nowMs) ?? null;
  }

  get quarantinedCount(): number {
    return [...this.#islands.values()].filter(({ record }) => record.quarantine.inARow > 0).length;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Returns the number of free slots of an Island; 0 if it is offline. */
  freeSlots(islandId: string): number {
    return this.#islands.get(islandId)?.freeSlots ?? 0;
  }

  #causeFor(kind: JobKind): Cause {
    const index = this.#indices.peek(kind);
    if (index === undefined) return explainUnknownCargo(kind.slug);
    const avoided = index.availableOutside([]) - index.availableOutside(kind.avoidIslands);
    return explainWait(index.cargo, index.fitCounts(), avoided);
  }

  #hasFreeSlot(job: WaitingJob): boolean {
    return this.#indices.of(job)?.best(job.avoidIslands) !== undefined;
  }

  #enqueue(job: WaitingJob): SchedulerEffect[] {
    return this.#serveQueue(this.#waiting.add(job, this.#nowMs));
  }

  #raiseIsland(info: SchedulerIsland, busy: number): SchedulerEffect[] {
    this.#dropIsland(info.id);
    const record = this.#away.get(info.id) ?? new IslandRecord(info.id, this.#policy);
    this.#away.delete(info.id);
    const island = new OnlineIsland(info, busy, record);
    for (const breaker of record.openBreakers) this.#breakers.push(breaker);
    this.#islands.set(info.id, island);
    this.#waiting.regroup(info.id);
    recountModels(this.#holders, [], info.cachedModels);
    this.#indices.put(island);
    return [...this.#fillIsland(island), ...this.#serveAvoiding()];
  }

  #changeIsland(info: SchedulerIsland): SchedulerEffect[] {
    const island = this.#islands.get(info.id);
    if (island === undefined) return [];
    recountModels(this.#holders, island.info.cachedModels, info.cachedModels);
    island.change(info);
    const isWorse = this.#indices.put(island);
    const effects = this.#fillIsland(island);
    return isWorse ? [...effects, ...this.#serveAvoiding()] : effects;
  }

  /** Removes an Island and settles the slot time of its jobs: it is unknown whether they continue. */
  #dropIsland(islandId: string): void {
    const island = this.#islands.get(islandId);
    if (island === undefined) return;
    for (const use of island.uses) this.#waiting.end(use, this.#nowMs);
    island.record.releaseAll();
    for (const breaker of island.record.openBreakers) this.#breakers.remove(breaker);
    this.#islands.delete(islandId);
    this.#waiting.regroup(islandId);
    recountModels(this.#holders, island.info.cachedModels, []);
    this.#away.set(islandId, island.record);
    this.shared.noteDeparted(island.info, this.#nowMs);
    this.#indices.remove(island);
  }

  #freeSlot({ kind, islandId, jobId }: SlotFreed): SchedulerEffect[] {
    const island = this.#islands.get(islandId);
    if (island === undefined) return [];
    const isEarlier = kind === "slot_superseded";
    const use = island.freeSlot(jobId, isEarlier);
    if (use !== undefined) this.#waiting.end(use, this.#nowMs);
    // Only the current attempt of a job can be a probe, and it still runs.
    if (!isEarlier && island.record.release(jobId).length > 0) this.#indices.put(island);
    const effects = this.#fillIsland(island);
    // If the slot was filled again, the rank of the Island is unchanged.
    if (effects.length === 0) this.#indices.improve(island);
    return effects;
  }

  #recordFailure({ islandId, slug, ...failure }: Extract<SchedulerEvent, { kind: "failure" }>): SchedulerEffect[] {
    const record = this.#recordOf(islandId);
    if (record === undefined) return [];
    const begun = record.addFailure(slug, failure, this.#nowMs);
    const quarantine = record.quarantineAt(this.#nowMs);
    const effects: SchedulerEffect[] = begun.includes(record.quarantine)
      ? [{ kind: "quarantine", islandId, quarantine }]
      : [];
    const island = this.#islands.get(islandId);
    if (island === undefined) return effects;
    for (const breaker of begun) this.#breakers.push(breaker);
    this.#indices.put(island);
    return [...effects, ...this.#serveAvoiding()];
  }

  #addRun(run: Extract<SchedulerEvent, { kind: "measured" }>): SchedulerEffect[] {
    const { islandId } = run;
    const record = this.#recordOf(islandId);
    if (record === undefined) return [];
    const ended = record.addRun(run);
    for (const breaker of ended) if (breaker.heapIndex !== -1) this.#breakers.remove(breaker);
    const effects: SchedulerEffect[] = ended.includes(record.quarantine)
      ? [{ kind: "quarantine", islandId, quarantine: null }]
      : [];
    const island = this.#islands.get(islandId);
    if (island === undefined) return effects;
    this.#indices.put(island, ended.length > 0 ? undefined : run.slug);
    return ended.length > 0 ? [...effects, ...this.#fillIsland(island)] : effects;
  }

  #expireBreakers(): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    for (let breaker = this.#breakers.peek(); breaker !== undefined; breaker = this.#breakers.peek()) {
      if (breaker.untilMs > this.#nowMs) break;
      this.#breakers.remove(breaker);
      breaker.expire();
      const island = this.#islands.get(breaker.islandId);
      if (island === undefined) continue;
      this.#indices.put(island, breaker.slug ?? undefined);
      effects.push(...this.#fillIsland(island));
    }
    return effects;
  }

  #changeCargo(slug: string): SchedulerEffect[] {
    this.#indices.forget(slug);
    return this.#serveQueues(this.#waiting.queuesOf(slug));
  }

  /** Serves the jobs that avoid Islands. They may use an avoided Island if no other one is available now. */
  #serveAvoiding(): SchedulerEffect[] {
    return this.#serveQueues(this.#waiting.avoidingQueues());
  }

  #serveQueues(queues: readonly JobQueue[]): SchedulerEffect[] {
    return queues.flatMap((queue) => this.#serveQueue(queue));
  }

  /** Gives free slots of any Island to the jobs of one kind. */
  #serveQueue(queue: JobQueue): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    const index = this.#indices.of(queue.kind);
    if (index === undefined) return effects;
    for (;;) {
      const job = queue.head();
      const island = job === undefined ? undefined : index.best(queue.kind.avoidIslands, queue.kind.mustAvoid);
      if (job === undefined || island === undefined) return effects;
      effects.push(this.#assign(job, island));
    }
  }

  /** Gives free slots of one Island to the jobs of any Cargo. */
  #fillIsland(island: OnlineIsland): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    while (island.freeSlots > 0) {
      const job = this.#waiting.nextFor(
        (kind) => this.#indices.peek(kind)?.mayServe(island.id, kind.avoidIslands, kind.mustAvoid) === true,
        island.info.loaded,
      );
      if (job === undefined) break;
      effects.push(this.#assign(job, island));
    }
    return effects;
  }

  #assign(job: QueuedJob, island: OnlineIsland): SchedulerEffect {
    const { slug } = job.kind;
    const served = this.#indices.peek(job.kind)?.servedOn(island.id);
    island.takeSlot(job.id, slug, this.#waiting.start(job, this.#nowMs), served);
    // The job is a probe, and the only job that the Island gets for now.
    if (island.breakerFor(slug) !== undefined) this.#indices.put(island);
    return { kind: "assign", jobId: job.id, islandId: island.id };
  }

  #recordOf(islandId: string): IslandRecord | undefined {
    return this.#islands.get(islandId)?.record ?? this.#away.peek(islandId);
  }
}

/** Updates the counts of Islands by model after the models of one Island changed. Duplicates in a list count once. */
export function recountModels(counts: Map<string, number>, before: readonly string[], after: readonly string[]): void {
  // Most heartbeats repeat the models of the previous one.
  if (before.length === after.length && before.every((key, index) => key === after[index])) return;
  for (const key of new Set(after)) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of new Set(before)) {
    const rest = (counts.get(key) ?? 0) - 1;
    if (rest === 0) counts.delete(key);
    else counts.set(key, rest);
  }
}
