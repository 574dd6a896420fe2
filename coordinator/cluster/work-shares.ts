import type { Elsewhere } from "../scheduler/explain-elsewhere.ts";
import type { SharedWork, WorkLoad } from "../scheduler/shared-work.ts";
import { workKeyOf, type WorkKind } from "../scheduler/slot-offer.ts";
import { PeerLoads, type Demand, type PeerLoad } from "./peer-loads.ts";
import { MAX_ISLANDS, MAX_JOBS, MAX_KINDS, type PeerStatus, type StealRequest } from "./messages.ts";

/** Whom to ask for waiting jobs, and what. */
export interface Steal {
  readonly victimId: string;
  readonly request: StealRequest;
}

/** A status is sent at least so often. */
const BEAT_MS = 1_000;
/** Between two statuses: so much for each coordinator that hears them, within these limits. */
const GATHER = { perPeerMs: 4, minMs: 25, maxMs: 250 };
/** Kinds of other coordinators' jobs that are looked at; above it, they take turns of a beat. */
const MAX_DEMANDS = 32;
/** A coordinator that others stand nearer to waits for each of them, so that not all ask for the same jobs. */
const TURN = { stepMs: 25, maxMs: 500 };
/** What a coordinator waits that would have to fetch the model first. */
const ABSENT_MODEL_MS = 100;
/** After it, whoever has a free slot may ask. */
const ALL_TURNS_MS = TURN.maxMs + ABSENT_MODEL_MS;
/** Queues are balanced so often. */
const BALANCE_MS = 500;
/** A job moves to another queue only where it waits so much less, or it would go back and forth as queues change. */
const MARGIN = 1.25;
/** Who had nothing to give is asked again after so long; who did not answer, later. */
const AGAIN = { emptyMs: 250, failedMs: 1_000 };
/** An answer that takes longer no longer keeps free slots for itself. */
const PATIENCE_MS = 250;
/** So many are asked at the same time. One who has few jobs for each request does not keep free slots from the others. */
const MAX_ASKED = 4;

/**
 * Decides what a coordinator tells the others about waiting jobs and free slots, whom it asks for jobs, and which it gives. Pure but for
 * what it remembers: the caller has the clock and sends the messages.
 */
export class WorkShares {
  readonly #selfId: string;
  readonly #work: SharedWork;
  readonly #peers = new PeerLoads();
  /** Jobs by kind, as the last status said. */
  #told = new Map<string, number>();
  /** Kinds of which somebody was told since that none is left. */
  readonly #emptied = new Set<string>();
  #toldIslands = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #balancedAtMs = Number.NEGATIVE_INFINITY;
  #beats = 0;
  /** Requests under way: when each began, and the Islands that it offers, by the one who was asked. */
  readonly #asked = new Map<string, { readonly sinceMs: number; readonly islandIds: readonly string[] }>();
  readonly #notBeforeMs = new Map<string, number>();

  constructor(selfId: string, work: SharedWork) {
    this.#selfId = selfId;
    this.#work = work;
  }

  hear(id: string, status: PeerStatus, nowMs: number): void {
    if (id !== this.#selfId) this.#peers.hear(id, status, nowMs);
  }

  /** Forgets coordinators that are gone or silent. */
  prune(isLiving: (id: string) => boolean, nowMs: number): void {
    this.#peers.prune(isLiving, nowMs);
    for (const id of this.#notBeforeMs.keys()) if (!isLiving(id)) this.#notBeforeMs.delete(id);
  }

  wasHeardSince(id: string, sinceMs: number): boolean {
    return this.#peers.wasHeardSince(id, sinceMs);
  }

  /** Of the coordinator with most free slots; undefined while none is heard. */
  freestPeerId(): string | undefined {
    return [...this.#peers.all()].reduce<PeerLoad | undefined>((best, peer) => {
      return best === undefined || peer.freeSlots > best.freeSlots ? peer : best;
    }, undefined)?.id;
  }

  elsewhere(kind: WorkKind): Elsewhere {
    return this.#peers.elsewhere(workKeyOf(kind));
  }

  /** Another coordinator has Islands for that kind, as far as this one knows. */
  mayRunElsewhere(kind: WorkKind): boolean {
    return this.#peers.mayRun(workKeyOf(kind));
  }

  /** Jobs that wait at other coordinators, by Cargo. */
  waitingElsewhere(): ReadonlyMap<string, number> {
    return this.#peers.waitingBySlug();
  }

  /** The status that is due; undefined while there is nothing new that others should act on. */
  announcement(nowMs: number): PeerStatus | undefined {
    const sinceMs = nowMs - this.#toldAtMs;
    const { perPeerMs, minMs, maxMs } = GATHER;
    if (sinceMs < Math.min(maxMs, Math.max(minMs, perPeerMs * this.#peers.count))) return undefined;
    const waiting = this.#work.waiting();
    if (sinceMs < BEAT_MS && !this.#hasNews(waiting)) return undefined;
    this.#toldAtMs = nowMs;
    this.#toldIslands = this.#work.islandCount;
    this.#beats += 1;
    this.#emptied.clear();
    const work = inTurns([...waiting, ...this.#readiness(waiting)], MAX_KINDS, this.#beats);
    this.#told = new Map(work.filter(({ jobs }) => jobs > 0).map((load) => [workKeyOf(load), load.jobs]));
    return { freeSlots: this.#work.freeSlots, islands: this.#toldIslands, work };
  }

  /** Whom to ask for jobs now. {@link noteRest} and {@link answered}, or {@link failed}, must follow. */
  nextSteal(nowMs: number): Steal | undefined {
    const recent = [...this.#asked.values()].filter(({ sinceMs }) => nowMs - sinceMs < PATIENCE_MS);
    if (recent.length >= MAX_ASKED) return undefined;
    const demands = inTurns(this.#peers.demands(), MAX_DEMANDS, this.#beats);
    if (demands.length === 0) return undefined;
    const offered = new Set(recent.flatMap(({ islandIds }) => islandIds));
    const startable = demands.filter(({ kind }) => this.#work.freePlaceFor(kind) !== undefined);
    const others = demands.filter((demand) => !startable.includes(demand));
    const start = this.#stealToStart(startable, offered, nowMs);
    const steal = start ?? (recent.length === 0 ? this.#stealToBalance(others, nowMs) : undefined);
    if (steal === undefined) return undefined;
    const islandIds = steal.request.offer.islands.map(({ id }) => id);
    this.#asked.set(steal.victimId, { sinceMs: nowMs, islandIds });
    return steal;
  }

  /** What the one who was asked still has. To be told when its answer comes: what it says after that is newer. */
  noteRest(victimId: string, rest: readonly WorkLoad[]): void {
    this.#peers.correct(victimId, rest);
  }

  /** @param got Number of jobs that came. */
  answered(victimId: string, got: number, nowMs: number): void {
    this.#asked.delete(victimId);
    if (got === 0) this.#notBeforeMs.set(victimId, nowMs + AGAIN.emptyMs);
  }

  failed(victimId: string, nowMs: number): void {
    this.#asked.delete(victimId);
    this.#notBeforeMs.set(victimId, nowMs + AGAIN.failedMs);
  }

  /** Takes the jobs out of the queues that another coordinator gets: by fair order, and no more than it should have. */
  give(toId: string, { offer, backlog }: StealRequest): string[] {
    const jobIds = this.#work.takeFor(offer, MAX_JOBS);
    for (const load of backlog) {
      const own = this.#work.loadOf(load);
      const jobs = jobsToTake(load, own, sum(this.#peers.sumOf(workKeyOf(load), toId), own, load));
      jobIds.push(...this.#work.takeNext(load, Math.min(jobs, MAX_JOBS - jobIds.length)));
    }
    return jobIds;
  }

  /** What is left here of the kinds that a coordinator asked for, as it is told now. */
  restOf({ offer, backlog }: StealRequest): WorkLoad[] {
    return [...offer.kinds, ...backlog].map((kind) => {
      const load = this.#work.loadOf(kind);
      if (load.jobs === 0) this.#emptied.add(workKeyOf(kind));
      return load;
    });
  }

  /** Jobs wait of a kind of which somebody believes that none do, or the other way round; or the first Island came, or the last one went. */
  #hasNews(waiting: readonly WorkLoad[]): boolean {
    if ((this.#toldIslands === 0) !== (this.#work.islandCount === 0)) return true;
    const keys = new Set(waiting.map(workKeyOf));
    for (const key of keys) if (!this.#told.has(key) || this.#emptied.has(key)) return true;
    for (const key of this.#told.keys()) if (!keys.has(key)) return true;
    return false;
  }

  /** What could run here of the kinds that wait only elsewhere. */
  #readiness(waiting: readonly WorkLoad[]): WorkLoad[] {
    const own = new Set(waiting.map(workKeyOf));
    return inTurns(this.#peers.demands(), MAX_DEMANDS, this.#beats).flatMap(({ key, kind }) => {
      const slots = own.has(key) ? 0 : this.#work.slotsFor(kind);
      return slots === 0 ? [] : [{ ...kind, jobs: 0, pressing: 0, slots }];
    });
  }

  /** Asks for jobs that start at once, where the most of them wait for each slot. */
  #stealToStart(startable: readonly Demand[], offered: ReadonlySet<string>, nowMs: number): Steal | undefined {
    if (startable.length === 0) return undefined;
    const ahead = this.#aheadOfThis();
    let victim: PeerLoad | undefined;
    let most = 0;
    for (const demand of startable) {
      for (const peer of demand.peers.values()) {
        const pressure = pressureOf(peer.work.get(demand.key));
        if (pressure <= most || !this.#mayAsk(peer, nowMs)) continue;
        if (!this.#isMyTurn(demand, peer, ahead, nowMs)) continue;
        victim = peer;
        most = pressure;
      }
    }
    if (victim === undefined) return undefined;
    const { id: victimId, work } = victim;
    const waiting = startable.flatMap(({ key }) => work.get(key) ?? []).filter(({ jobs }) => jobs > 0);
    const offer = this.#work.offer(waiting, { maxSlots: MAX_JOBS, maxIslands: MAX_ISLANDS, except: offered });
    if (offer.islands.length === 0) return undefined;
    return { victimId, request: { offer, backlog: [] } };
  }

  /** Asks for jobs that compete here with those that wait here, as they wait longer where they are. */
  #stealToBalance(demands: readonly Demand[], nowMs: number): Steal | undefined {
    if (nowMs - this.#balancedAtMs < BALANCE_MS) return undefined;
    this.#balancedAtMs = nowMs;
    const plans = new Map<string, { jobs: number; readonly backlog: WorkLoad[] }>();
    for (const { key, kind, peers } of demands) {
      const mine = this.#work.loadOf(kind);
      const network = sum(this.#peers.sumOf(key), mine);
      for (const peer of peers.values()) {
        const theirs = peer.work.get(key);
        if (theirs === undefined || !this.#mayAsk(peer, nowMs)) continue;
        // Before that, who has a free slot asks: a job that moves meanwhile has to be told of anew.
        if (waitedMs(peer, key, nowMs) < ALL_TURNS_MS) continue;
        const jobs = jobsToTake(mine, theirs, network);
        if (jobs === 0) continue;
        const plan = plans.get(peer.id) ?? { jobs: 0, backlog: [] };
        plan.jobs += jobs;
        plan.backlog.push(mine);
        plans.set(peer.id, plan);
      }
    }
    const [most] = [...plans].sort(([, a], [, b]) => b.jobs - a.jobs);
    if (most === undefined) return undefined;
    const [victimId, { backlog }] = most;
    return { victimId, request: { offer: { kinds: [], islands: [] }, backlog } };
  }

  #mayAsk({ id }: PeerLoad, nowMs: number): boolean {
    return !this.#asked.has(id) && nowMs >= (this.#notBeforeMs.get(id) ?? 0);
  }

  /** The coordinators with more free slots than this one. */
  #aheadOfThis(): PeerLoad[] {
    const own = this.#work.freeSlots;
    return [...this.#peers.all()].filter(({ id, freeSlots }) => {
      return freeSlots > own || (freeSlots === own && id < this.#selfId);
    });
  }

  /** A coordinator asks at once if those ahead of it have too few slots for all, else after them. */
  #isMyTurn({ key, kind }: Demand, victim: PeerLoad, ahead: readonly PeerLoad[], nowMs: number): boolean {
    const sinceMs = waitedMs(victim, key, nowMs);
    if (sinceMs >= ALL_TURNS_MS) return true;
    const rivals = ahead.filter(({ id, work }) => id !== victim.id && (work.get(key)?.slots ?? 1) > 0);
    const slots = rivals.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
    const stepMs = Math.min(TURN.stepMs, TURN.maxMs / Math.max(1, this.#peers.count));
    const turnMs = slots < (victim.work.get(key)?.jobs ?? 0) ? 0 : rivals.length * stepMs;
    return sinceMs >= turnMs + (this.#work.freePlaceFor(kind) === "absent" ? ABSENT_MODEL_MS : 0);
  }
}

/** The whole list if it is short enough, else another part of it in each turn. */
function inTurns<T>(list: readonly T[], max: number, turn: number): readonly T[] {
  if (list.length <= max) return list;
  const from = (turn * max) % list.length;
  return [...list.slice(from), ...list.slice(0, from)].slice(0, max);
}

/** For how long jobs of a kind have waited at a coordinator, as far as it was heard. */
function waitedMs({ waitsSinceMs, heardAtMs }: PeerLoad, key: string, nowMs: number): number {
  return nowMs - (waitsSinceMs.get(key) ?? heardAtMs);
}

/** Jobs for each slot, of coordinators where some wait. */
function pressureOf(load: WorkLoad | undefined): number {
  return load === undefined ? 0 : load.pressing / Math.max(load.slots, 0.5);
}

type Sum = Pick<WorkLoad, "pressing" | "slots">;
type Load = Sum & Pick<WorkLoad, "jobs">;

function sum(...loads: readonly Sum[]): Sum {
  return loads.reduce((a, b) => ({ pressing: a.pressing + b.pressing, slots: a.slots + b.slots }));
}

/**
 * How many waiting jobs of a kind a coordinator with busy slots takes into its queues from another: each of them waits less there, and
 * the one who takes has no more than its part of all. So nobody starves where there are few slots, or none.
 * @param mine Of the one who takes.
 * @param network Sums over all coordinators, these two included.
 */
export function jobsToTake(mine: Load, theirs: Load, network: Sum): number {
  if (mine.slots === 0 || theirs.jobs === 0) return 0;
  // The last of them waits for (mine.pressing + n) / mine.slots rounds, instead of (theirs.pressing - n + 1) / theirs.slots.
  const gain = (theirs.pressing + 1) * mine.slots - MARGIN * mine.pressing * theirs.slots;
  const better = Math.floor(gain / (mine.slots + MARGIN * theirs.slots));
  const part = Math.ceil((network.pressing * mine.slots) / network.slots - mine.pressing);
  return Math.max(0, Math.min(better, part, theirs.jobs));
}
