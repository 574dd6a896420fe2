import { recentMap } from "../../shared/recent-map.ts";
import type { StoredCurve } from "../store/islands.ts";
import { noteStart, trafficByCargo, type CargoTraffic } from "./cargo-traffic.ts";
import type { Quarantine, SchedulerEffect, SchedulerEvent, SchedulerIsland, WaitingJob, WorkKind } from "./events.ts";
import { finishMs } from "./expected-cost.ts";
import {
  type AskElsewhere,
  type Cause,
  explainHold,
  explainUnknownCargo,
  explainWait,
  reasonElsewhere,
  type Waiting,
} from "./explain.ts";
import { hasLowerId, type CircuitBreaker } from "./circuit-breaker.ts";
import { sharedWork, type SharedWork } from "./shared-work.ts";
import { IndexedHeap } from "./indexed-heap.ts";
import type { KnownCargo } from "./fit.ts";
import { hardwareSpeeds } from "./hardware-speeds.ts";
import { islandIndices, type IslandIndices } from "./island-indices.ts";
import { IslandRecord, breakerPoliciesOf, type BreakerPolicies } from "./island-record.ts";
import type { SlotUse } from "./job-classes.ts";
import type { JobKind, JobQueue, QueuedJob } from "./job-queue.ts";
import { OnlineIsland, type Run } from "./online-island.ts";
import { place, type Placement } from "./placement.ts";
import { promptCaches } from "./prompt-caches.ts";
import { chargeOf, learnFrom } from "./run-results.ts";
import { WaitingJobs } from "./waiting-jobs.ts";

/** Maximum number of offline Islands whose records are kept. */
const MAX_REMEMBERED_ISLANDS = 10_000;

type Start = Extract<Placement, { is: "start" }>;
/** Maximum number of jobs with a reserved slot that are reconsidered when another Island has a free slot. */
const MAX_RECONSIDERED = 16;

type SlotFreed = Extract<SchedulerEvent, { kind: "slot_freed" | "slot_superseded" }>;

/**
 * Decides which Island runs which job. Deterministic: the same events, times and `random` have the same effects.
 * After every step no job waits while an Island that it may use has a free slot, unless a slot of a much faster Island
 * is reserved for it. Rules: docs/internals/scheduler.md
 */
export class Scheduler {
  /** Work that other coordinators may take from here, and slots that are free for their jobs. */
  readonly shared: SharedWork;
  /** Returns true if another coordinator may have Islands for jobs of that kind. */
  readonly mayRunElsewhere: (kind: WorkKind) => boolean;
  readonly #policy: BreakerPolicies;
  readonly #waiting: WaitingJobs;
  readonly #islands = new Map<string, OnlineIsland>();
  /** Number of online Islands of each account. */
  readonly #islandCounts = new Map<string, number>();
  readonly #indices: IslandIndices;
  /** Number of online Islands that have each model or image on disk, by cache key. */
  readonly #holders = new Map<string, number>();
  /** Records of offline Islands, by id. */
  readonly #away = recentMap<IslandRecord>(MAX_REMEMBERED_ISLANDS);
  /** Open breakers of online Islands. The breaker that admits a probe first is first. */
  readonly #breakers = new IndexedHeap<CircuitBreaker>(hasLowerId);
  readonly #trafficOf: (slug: string) => CargoTraffic;
  readonly #speeds = hardwareSpeeds();
  readonly #caches = promptCaches();
  readonly #trialShare: number;
  readonly #random: () => number;
  #nowMs = 0;

  /**
   * @param cargoOf Looks up the catalog. When its result for a slug changes, `cargo_changed` must follow.
   * @param chatShare Share of slot time for chats; see `JobClasses`.
   * @param trialShare Part of a Cargo's jobs that may measure Islands, 0 to 1.
   * @param firstOpenMs See `breakerPoliciesOf`.
   * @param random Returns 0 to 1, to choose between equal Islands and to spread the open times of breakers.
   */
  constructor(
    cargoOf: (slug: string) => KnownCargo | undefined,
    chatShare: number,
    trialShare: number,
    firstOpenMs: number,
    random: () => number,
    mayRunElsewhere: (kind: WorkKind) => boolean = () => false,
  ) {
    this.#policy = breakerPoliciesOf(firstOpenMs, random);
    this.mayRunElsewhere = mayRunElsewhere;
    this.#trialShare = trialShare;
    this.#trafficOf = trafficByCargo(trialShare > 0);
    this.#random = random;
    this.#waiting = new WaitingJobs(chatShare, (id) => this.#islands.has(id), mayRunElsewhere);
    const facts = { trafficOf: this.#trafficOf, speeds: this.#speeds };
    const now = (): number => this.#nowMs;
    this.#indices = islandIndices(
      cargoOf,
      this.#islands,
      () => [...this.#waiting.queues, ...this.#waiting.heldJobs],
      facts,
      now,
    );
    this.shared = sharedWork(this.#waiting, this.#indices, this.#islands, this.#islandCounts, now);
  }

  /** Applies an event and returns its effects. `nowMs` must not decrease: take it from a monotonic clock. */
  step(event: SchedulerEvent, nowMs: number): SchedulerEffect[] {
    this.#nowMs = nowMs;
    switch (event.kind) {
      case "job_offered":
        return this.#offer(event.job);
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
        return this.#serveAvoiding(this.#waiting.endHoldsOf(event.islandId));
      case "slot_freed":
      case "slot_superseded":
        return this.#freeSlot(event);
      case "failure":
        return this.#recordFailure(event);
      case "first_output":
        this.#noteFirstOutput(event);
        return [];
      case "run_ended":
        return this.#endRun(event);
      case "curves_read":
        this.#restoreCurves(event.islandId, event.curves);
        return [];
      case "cargo_changed":
        return this.#changeCargo(event.slug);
      case "time_passed":
        return [...this.#expireBreakers(), ...this.#serveQueues(this.#waiting.endDelays(nowMs))];
      default:
        return event satisfies never;
    }
  }

  /** Time at which `time_passed` is due; null if nothing is due later. */
  get nextWakeMs(): number | null {
    const atMs = Math.min(this.#breakers.peek()?.untilMs ?? Infinity, this.#waiting.nextDelayEndMs);
    return atMs === Infinity ? null : atMs;
  }

  /** Returns why a job waits; null if it does not. The cost grows with the accounts whose jobs wait for its Cargo. */
  explain(jobId: string): Waiting | null {
    const job = this.#waiting.get(jobId);
    if (job === undefined) return null;
    const hold = this.#waiting.holdOf(jobId);
    if (hold !== undefined) return { ...explainHold(hold.untilMs - this.#nowMs), position: 1 };
    return { ...this.#causeFor(job.kind), position: this.#waiting.positionOf(job) };
  }

  /** Returns the busy Island of which a slot is reserved for a waiting job; null without a reservation. */
  heldFor(jobId: string): string | null {
    return this.#waiting.holdOf(jobId)?.islandId ?? null;
  }

  /** Counts waiting jobs by the reason why they wait. The cost grows with the number of kinds, not of jobs. */
  waitsByReason(elsewhere: AskElsewhere): ReadonlyMap<Waiting["reason"], number> {
    const counts = new Map<Waiting["reason"], number>();
    for (const { kind, size } of this.#waiting.queues) {
      const reason = reasonElsewhere(this.#causeFor(kind).reason, elsewhere(kind));
      counts.set(reason, (counts.get(reason) ?? 0) + size);
    }
    const held = this.#waiting.holdCount;
    if (held > 0) counts.set("all_busy", (counts.get("all_busy") ?? 0) + held);
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

  /**
   * Returns the expected cost in ms of a Cargo's mean job without the Island `exceptId`: Infinity if no other Island has
   * a free slot, 0 if the Cargo had no jobs recently.
   */
  costWithout(exceptId: string, slug: string): number {
    const index = this.#indices.peek({ slug, onlyIslandsOf: null });
    return index === undefined ? 0 : (index.lowestCostMs(this.#nowMs, exceptId) ?? Infinity);
  }

  /** Returns the curves of the Islands that have changed ones since the last call, to be stored. */
  takeChangedCurves(): { readonly islandId: string; readonly curves: readonly StoredCurve[] }[] {
    const records = [
      ...[...this.#islands.values()].map(({ id, record }) => [id, record] as const),
      ...this.#away.entries(),
    ];
    return records.flatMap(([islandId, record]) => {
      const curves = record.takeChangedCurves();
      return curves.length === 0 ? [] : [{ islandId, curves }];
    });
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

  /** Assigns a new job if an Island can start it now; otherwise forgets it. */
  #offer(job: WaitingJob): SchedulerEffect[] {
    const placement = this.#place({ kind: this.#waiting.kindOf(job), size: job.size, mayHold: true });
    return placement?.is === "start" ? [this.#assign(job, this.#waiting.startNow(job), placement)] : [];
  }

  #enqueue(job: WaitingJob): SchedulerEffect[] {
    return this.#serveQueue(this.#waiting.add(job, this.#nowMs));
  }

  #raiseIsland(info: SchedulerIsland, busy: number): SchedulerEffect[] {
    this.#dropIsland(info.id);
    const record = this.#away.get(info.id) ?? new IslandRecord(info.id, this.#policy);
    this.#away.delete(info.id);
    const island = new OnlineIsland(info, busy, record, this.#nowMs);
    for (const breaker of record.openBreakers) this.#breakers.push(breaker, breaker.untilMs);
    this.#islands.set(info.id, island);
    this.#countIsland(info.accountId, 1);
    this.#waiting.regroup(info.id);
    recountModels(this.#holders, [], info.cachedModels);
    this.#indices.put(island);
    const freed = this.#waiting.endHoldsOf(info.id);
    return [...this.#fillIsland(island), ...this.#serveAvoiding(freed)];
  }

  #changeIsland(info: SchedulerIsland): SchedulerEffect[] {
    const island = this.#islands.get(info.id);
    if (island === undefined) return [];
    for (const slug of island.info.loaded) if (!info.loaded.includes(slug)) this.#caches.forget(info.id, slug);
    recountModels(this.#holders, island.info.cachedModels, info.cachedModels);
    const before = island.info;
    island.info = info;
    const isWorse = this.#indices.put(island) || info.slots < before.slots;
    const freed = isWorse ? this.#waiting.endHoldsOf(info.id) : [];
    const effects = this.#fillIsland(island);
    return isWorse ? [...effects, ...this.#serveAvoiding(freed)] : effects;
  }

  /** Removes an Island and settles the slot time of its jobs: it is unknown whether they continue. */
  #dropIsland(islandId: string): void {
    const island = this.#islands.get(islandId);
    if (island === undefined) return;
    for (const { slotUse, run } of island.uses) this.#endUse(slotUse, run.beganMs, null);
    this.#caches.forget(islandId);
    island.record.releaseAll();
    for (const breaker of island.record.openBreakers) this.#breakers.remove(breaker);
    this.#islands.delete(islandId);
    this.#countIsland(island.info.accountId, -1);
    this.#waiting.regroup(islandId);
    recountModels(this.#holders, island.info.cachedModels, []);
    this.#away.set(islandId, island.record);
    this.shared.noteDeparted(island.info, this.#nowMs);
    this.#indices.remove(island);
  }

  #countIsland(accountId: string, change: number): void {
    const count = (this.#islandCounts.get(accountId) ?? 0) + change;
    if (count === 0) this.#islandCounts.delete(accountId);
    else this.#islandCounts.set(accountId, count);
  }

  #freeSlot({ kind, islandId, jobId }: SlotFreed): SchedulerEffect[] {
    const island = this.#islands.get(islandId);
    if (island === undefined) return [];
    const isEarlier = kind === "slot_superseded";
    const use = island.freeSlot(jobId, isEarlier, this.#nowMs);
    if (use !== undefined) {
      this.#endUse(use.slotUse, use.run.beganMs, use.run.chargedMs);
    }
    // Only the current attempt of a job can be a probe, and it still runs.
    if (!isEarlier && island.record.release(jobId).length > 0) this.#indices.put(island);
    else this.#indices.reorder(island);
    return this.#fillIsland(island);
  }

  #endUse(slotUse: SlotUse, beganMs: number, chargedMs: number | null): void {
    const usedMs = this.#nowMs - beganMs;
    this.#waiting.end(slotUse, usedMs, chargedMs ?? usedMs);
  }

  #noteFirstOutput({ islandId, jobId }: Extract<SchedulerEvent, { kind: "first_output" }>): void {
    const island = this.#islands.get(islandId);
    if (island === undefined) return;
    island.noteFirstOutput(jobId, this.#nowMs);
    this.#indices.reorder(island);
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
    for (const breaker of begun) this.#breakers.push(breaker, breaker.untilMs);
    this.#indices.put(island);
    return [...effects, ...this.#serveAvoiding(this.#waiting.endHoldsOf(islandId))];
  }

  #endRun({
    islandId,
    jobId,
    slug,
    succeeded,
    tokens,
  }: Extract<SchedulerEvent, { kind: "run_ended" }>): SchedulerEffect[] {
    const record = this.#recordOf(islandId);
    if (record === undefined) return [];
    const curve = record.ownCurveOf(slug);
    curve.addResult(succeeded);
    const island = this.#islands.get(islandId);
    const run = island?.runOf(jobId);
    if (island !== undefined && run !== undefined && succeeded) {
      const facts = { traffic: this.#trafficOf(slug), caches: this.#caches, speeds: this.#speeds };
      const isClassBetterKnown = learnFrom(run, tokens, island, curve, facts, this.#nowMs);
      if (isClassBetterKnown) this.#indices.assumeAgain(slug, island.info.hardwareClass);
      if (tokens !== null) island.charge(jobId, chargeOf(tokens));
    }
    const ended = succeeded ? record.addSuccess(slug) : [];
    for (const breaker of ended) if (breaker.heapIndex !== -1) this.#breakers.remove(breaker);
    const effects: SchedulerEffect[] = ended.includes(record.quarantine)
      ? [{ kind: "quarantine", islandId, quarantine: null }]
      : [];
    if (island === undefined) return effects;
    this.#indices.put(island, ended.length > 0 ? undefined : slug);
    return ended.length > 0 ? [...effects, ...this.#fillIsland(island)] : effects;
  }

  #restoreCurves(islandId: string, curves: readonly StoredCurve[]): void {
    const record = this.#recordOf(islandId);
    const island = this.#islands.get(islandId);
    for (const { slug, numbers } of curves) {
      if (record === undefined || record.curveOf(slug).isMeasured) continue;
      record.ownCurveOf(slug).restore(numbers);
      if (island !== undefined) this.#indices.put(island, slug);
    }
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
    this.#waiting.endHoldsOfCargo(slug);
    return this.#serveQueues(this.#waiting.queuesOf(slug));
  }

  /** Serves `others` and the jobs that avoid Islands: they may use an avoided Island if no other is available now. */
  #serveAvoiding(others: readonly JobQueue[] = []): SchedulerEffect[] {
    return this.#serveQueues(this.#waiting.avoidingQueues(others));
  }

  #serveQueues(queues: readonly JobQueue[]): SchedulerEffect[] {
    return queues.flatMap((queue) => this.#serveQueue(queue));
  }

  /** Gives free slots of any Island to the jobs of one kind. */
  #serveQueue(queue: JobQueue): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    for (let job = queue.head(); job !== undefined; job = queue.head()) {
      const placement = this.#placeFairly(job);
      if (placement === undefined) break;
      effects.push(...this.#follow(job, placement));
    }
    return effects;
  }

  /** Gives free slots of one Island to the jobs of any Cargo, first to those for which they are reserved. */
  #fillIsland(island: OnlineIsland): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    const mayServe = ({ avoidIslands, mustAvoid, ...kind }: JobKind): boolean =>
      this.#indices.peek(kind)?.mayServe(island.id, avoidIslands, mustAvoid) === true;
    while (island.freeSlots > 0) {
      const held = this.#waiting.firstHeldFor(island.id, mayServe);
      const job = held ?? this.#waiting.nextFor(mayServe, island.info.loaded);
      const placement =
        job === undefined ? undefined : job === held ? this.#place(job, island) : this.#placeFairly(job);
      if (job === undefined || placement === undefined) break;
      effects.push(...this.#follow(job, placement));
    }
    return [...effects, ...this.#giveToHeldJobs(island, mayServe)];
  }

  /** Gives slots that are left to jobs that wait for another Island, if this one is now as good. */
  #giveToHeldJobs(island: OnlineIsland, mayServe: (kind: JobKind) => boolean): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    if (island.freeSlots === 0 || this.#waiting.holdCount === 0) return effects;
    for (const job of this.#waiting.heldJobs.slice(0, MAX_RECONSIDERED)) {
      if (!mayServe(job.kind)) continue;
      const placement = this.#place({ ...job, mayHold: true });
      if (placement?.is === "start") effects.push(...this.#follow(job, placement));
    }
    return effects;
  }

  /** @param only The Island whose slot is reserved for the job. */
  #place(job: Parameters<typeof place>[0], only?: OnlineIsland): Placement | undefined {
    const index = this.#indices.of(job.kind);
    if (index === undefined) return undefined;
    const heldFor = (islandId: string): number => this.#waiting.heldFor(islandId);
    return place(job, index, this.#caches, heldFor, this.#random, this.#nowMs, only);
  }

  /** Like `#place`, with at most one reserved slot for each account, so that none starts many jobs out of its turn. */
  #placeFairly(job: QueuedJob): Placement | undefined {
    const mayHold = job.mayHold && !this.#waiting.hasHoldOf(job.account.accountId);
    return this.#place({ kind: job.kind, size: job.size, mayHold });
  }

  #follow(job: QueuedJob, placement: Placement): SchedulerEffect[] {
    if (placement.is === "start") return [this.#assign(job, this.#waiting.start(job), placement)];
    this.#waiting.hold(job, placement.island.id, placement.untilMs);
    return [];
  }

  #assign(
    { id: jobId, size }: Pick<WaitingJob, "id" | "size">,
    slotUse: SlotUse,
    { island, index, choice, work, cost }: Start,
  ): SchedulerEffect {
    const { slug } = index.cargo;
    const ownInput = index.hasTokens ? Math.max(0, work.input - work.cached) : work.input;
    const run: Run = {
      slug,
      work,
      assumed: index.assumedOn(island),
      loadMs: cost.loadMs,
      beganLoad: island.loadingMs(slug, this.#nowMs) === null,
      readInput: index.hasTokens ? island.unreadInput + ownInput : ownInput,
      ownInput: index.hasTokens ? ownInput : 0,
      beganMs: this.#nowMs,
      expectedMs: finishMs(cost),
      beganJobMs: island.jobMs(this.#nowMs),
      firstOutput: null,
      chargedMs: null,
    };
    // A guess says nothing about the time that a trial takes.
    const lowestMs = index.isGuessed(island) ? cost.costMs : (choice.candidates[0]?.costMs ?? cost.costMs);
    noteStart(index.traffic, this.#trialShare, choice.reason === "trial" ? cost.costMs / lowestMs : null);
    index.noteStart(island, this.#nowMs);
    if (size !== undefined && index.hasTokens) {
      this.#caches.add(island.id, slug, size.promptParts, island.info.slots);
    }
    island.takeSlot(jobId, run, slotUse, index.servedOn(island.id));
    // With an open breaker the job is a probe, and the only job that the Island gets for now.
    if (island.breakerFor(slug) !== undefined) this.#indices.put(island);
    else this.#indices.reorder(island);
    return { kind: "assign", jobId, islandId: island.id, choice };
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
