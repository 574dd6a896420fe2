import type { Elsewhere } from "../scheduler/explain.ts";
import type { SharedWork, WorkLoad } from "../scheduler/shared-work.ts";
import { workKeyOf, workKindOf, type WorkKind } from "../scheduler/slot-offer.ts";
import { MAX_ISLANDS, MAX_JOBS, MAX_KINDS, type PeerStatus, type StealRequest } from "./messages.ts";

/** Whom to ask for waiting jobs, and what. */
export interface Steal {
  readonly victimId: string;
  readonly request: StealRequest;
}

/** What another coordinator said of itself. */
interface PeerLoad {
  readonly id: string;
  readonly freeSlots: number;
  readonly islands: number;
  readonly heardAtMs: number;
  /** It was never silent since then. */
  readonly heardSinceMs: number;
  /** By `workKeyOf()`. */
  readonly work: Map<string, WorkLoad>;
  /** Since when it has waiting jobs of a kind, by `workKeyOf()`. */
  readonly waitsSinceMs: ReadonlyMap<string, number>;
}

/** A kind of which jobs wait at other coordinators. */
interface Demand {
  readonly key: string;
  readonly kind: WorkKind;
  /** Those where they wait, by id. */
  readonly peers: ReadonlyMap<string, PeerLoad>;
}

/** A coordinator that said nothing for so long counts as away. */
const SILENT_MS = 3_000;
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
const AVOIDANCE_DELAY_MS = 250;
/** So many are asked at the same time. One who has few jobs for each request does not keep free slots from the others. */
const MAX_ASKED = 4;

/**
 * Decides what a coordinator tells the others about waiting jobs and free slots, whom it asks for jobs, and which it gives. Pure but for
 * what it remembers: the caller has the clock and sends the messages.
 */
export function workShares(selfId: string, here: SharedWork) {
  /** What the others said of themselves last, by id, as far as it is fresh. */
  const peers = new Map<string, PeerLoad>();
  /** By `workKeyOf()`; only kinds of which jobs wait. */
  const demands = new Map<string, Demand & { readonly peers: Map<string, PeerLoad> }>();
  /** Jobs by kind, as the last status said. */
  let toldJobs = new Map<string, number>();
  /** Kinds of which somebody was told since that none is left. */
  const emptied = new Set<string>();
  let toldIslands = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let balancedAtMs = Number.NEGATIVE_INFINITY;
  let beats = 0;
  /** Requests under way: when each began, and the Islands that it offers, by the one who was asked. */
  const asked = new Map<string, { readonly sinceMs: number; readonly islandIds: readonly string[] }>();
  const notBeforeMs = new Map<string, number>();

  function noteDemand(peer: PeerLoad, load: WorkLoad): void {
    const key = workKeyOf(load);
    if (load.jobs === 0) {
      dropDemand(key, peer.id);
      return;
    }
    const demand = demands.get(key) ?? { key, kind: workKindOf(load), peers: new Map() };
    demand.peers.set(peer.id, peer);
    demands.set(key, demand);
  }

  function dropDemand(key: string, id: string): void {
    const demand = demands.get(key);
    demand?.peers.delete(id);
    if (demand?.peers.size === 0) demands.delete(key);
  }

  /** The sum over the other coordinators but `exceptId`. */
  function sumOf(key: string, exceptId?: string): { readonly pressing: number; readonly slots: number } {
    const sum = { pressing: 0, slots: 0 };
    for (const { id, work } of peers.values()) {
      const load = work.get(key);
      if (load === undefined || id === exceptId) continue;
      sum.pressing += load.pressing;
      sum.slots += load.slots;
    }
    return sum;
  }

  /** Jobs wait of a kind of which somebody believes that none do, or the other way round; or the first Island came, or the last one went. */
  function hasNews(waiting: readonly WorkLoad[]): boolean {
    if ((toldIslands === 0) !== (here.islandCount === 0)) return true;
    const keys = new Set(waiting.map(workKeyOf));
    for (const key of keys) if (!toldJobs.has(key) || emptied.has(key)) return true;
    for (const key of toldJobs.keys()) if (!keys.has(key)) return true;
    return false;
  }

  /** What could run here of the kinds that wait only elsewhere. */
  function readiness(waiting: readonly WorkLoad[]): WorkLoad[] {
    const own = new Set(waiting.map(workKeyOf));
    return rotatingSlice([...demands.values()], MAX_DEMANDS, beats).flatMap(({ key, kind }) => {
      const slots = own.has(key) ? 0 : here.slotsFor(kind);
      return slots === 0 ? [] : [{ ...kind, jobs: 0, pressing: 0, slots }];
    });
  }

  /** Asks for jobs that start at once, where the most of them wait for each slot. */
  function stealToStart(startable: readonly Demand[], offered: ReadonlySet<string>, nowMs: number): Steal | undefined {
    if (startable.length === 0) return undefined;
    const ahead = aheadOfThis();
    let victim: PeerLoad | undefined;
    let most = 0;
    for (const demand of startable) {
      for (const peer of demand.peers.values()) {
        const pressure = pressureOf(peer.work.get(demand.key));
        if (pressure <= most || !mayAsk(peer, nowMs)) continue;
        if (!isMyRound(demand, peer, ahead, nowMs)) continue;
        victim = peer;
        most = pressure;
      }
    }
    if (victim === undefined) return undefined;
    const { id: victimId, work } = victim;
    const waiting = startable.flatMap(({ key }) => work.get(key) ?? []).filter(({ jobs }) => jobs > 0);
    const offer = here.offer(waiting, { maxSlots: MAX_JOBS, maxIslands: MAX_ISLANDS, except: offered });
    if (offer.islands.length === 0) return undefined;
    return { victimId, request: { offer, backlog: [] } };
  }

  /** Asks for jobs that compete here with those that wait here, as they wait longer where they are. */
  function stealToBalance(demands: readonly Demand[], nowMs: number): Steal | undefined {
    if (nowMs - balancedAtMs < BALANCE_MS) return undefined;
    balancedAtMs = nowMs;
    const plans = new Map<string, { jobs: number; readonly backlog: WorkLoad[] }>();
    for (const { key, kind, peers } of demands) {
      const mine = here.loadOf(kind);
      const network = sum(sumOf(key), mine);
      for (const peer of peers.values()) {
        const theirs = peer.work.get(key);
        if (theirs === undefined || !mayAsk(peer, nowMs)) continue;
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

  function mayAsk({ id }: PeerLoad, nowMs: number): boolean {
    return !asked.has(id) && nowMs >= (notBeforeMs.get(id) ?? 0);
  }

  /** The coordinators with more free slots than this one. */
  function aheadOfThis(): PeerLoad[] {
    const own = here.freeSlots;
    return [...peers.values()].filter(({ id, freeSlots }) => {
      return freeSlots > own || (freeSlots === own && id < selfId);
    });
  }

  /** A coordinator asks at once if those ahead of it have too few slots for all, else after them. */
  function isMyRound({ key, kind }: Demand, victim: PeerLoad, ahead: readonly PeerLoad[], nowMs: number): boolean {
    const sinceMs = waitedMs(victim, key, nowMs);
    if (sinceMs >= ALL_TURNS_MS) return true;
    const rivals = ahead.filter(({ id, work }) => id !== victim.id && (work.get(key)?.slots ?? 1) > 0);
    const slots = rivals.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
    const stepMs = Math.min(TURN.stepMs, TURN.maxMs / Math.max(1, peers.size));
    const turnMs = slots < (victim.work.get(key)?.jobs ?? 0) ? 0 : rivals.length * stepMs;
    return sinceMs >= turnMs + (here.freeSlotFor(kind) === "absent" ? ABSENT_MODEL_MS : 0);
  }

  return {
    hear(id: string, { freeSlots, islands, work }: PeerStatus, nowMs: number): void {
      if (id === selfId) return;
      const before = peers.get(id);
      const waiting = work.filter(({ jobs }) => jobs > 0).map(workKeyOf);
      const waitsSinceMs = new Map(waiting.map((key) => [key, before?.waitsSinceMs.get(key) ?? nowMs]));
      const byKey = new Map(work.map((load) => [workKeyOf(load), load]));
      const heardSinceMs = before?.heardSinceMs ?? nowMs;
      const peer = { id, freeSlots, islands, heardAtMs: nowMs, heardSinceMs, work: byKey, waitsSinceMs };
      peers.set(id, peer);
      for (const key of before?.work.keys() ?? []) if (!byKey.has(key)) dropDemand(key, id);
      for (const load of work) noteDemand(peer, load);
    },
    /** Forgets coordinators that are gone or silent. */
    prune(isLive: (id: string) => boolean, nowMs: number): void {
      for (const { id, heardAtMs, work } of peers.values()) {
        if (isLive(id) && nowMs - heardAtMs <= SILENT_MS) continue;
        peers.delete(id);
        for (const key of work.keys()) dropDemand(key, id);
      }
      for (const id of notBeforeMs.keys()) if (!isLive(id)) notBeforeMs.delete(id);
    },
    wasHeardSince(id: string, sinceMs: number): boolean {
      return (peers.get(id)?.heardSinceMs ?? Infinity) <= sinceMs;
    },
    /** Of the coordinator with most free slots; undefined while none is heard. */
    freestPeerId(): string | undefined {
      return [...peers.values()].reduce<PeerLoad | undefined>((best, peer) => {
        return best === undefined || peer.freeSlots > best.freeSlots ? peer : best;
      }, undefined)?.id;
    },
    /** What the others have for a kind of work. Of a kind that waits nowhere, nobody says. */
    elsewhere: (kind: WorkKind): Elsewhere => {
      const key = workKeyOf(kind);
      const running = [...peers.values()].filter(({ work }) => (work.get(key)?.slots ?? 0) > 0);
      const free = running.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
      return { peers: peers.size, running: running.length, slots: sumOf(key).slots, free };
    },
    /** Another coordinator has Islands that run a kind of work, or may have some: of a kind that waits nowhere, nobody says. */
    mayRunElsewhere(kind: WorkKind): boolean {
      const key = workKeyOf(kind);
      return [...peers.values()].some(({ islands, work }) => (work.get(key)?.slots ?? islands) > 0);
    },
    /** Jobs that wait at other coordinators by Cargo, as far as they told of them. */
    waitingElsewhere: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { kind, key, peers } of demands.values()) {
        const jobs = [...peers.values()].reduce((sum, { work }) => sum + (work.get(key)?.jobs ?? 0), 0);
        counts.set(kind.slug, (counts.get(kind.slug) ?? 0) + jobs);
      }
      return counts;
    },
    /** The status that is due; undefined while there is nothing new that others should act on. */
    announcement(nowMs: number): PeerStatus | undefined {
      const sinceMs = nowMs - toldAtMs;
      const { perPeerMs, minMs, maxMs } = GATHER;
      if (sinceMs < Math.min(maxMs, Math.max(minMs, perPeerMs * peers.size))) return undefined;
      const waiting = here.waiting();
      if (sinceMs < BEAT_MS && !hasNews(waiting)) return undefined;
      toldAtMs = nowMs;
      toldIslands = here.islandCount;
      beats += 1;
      emptied.clear();
      const work = rotatingSlice([...waiting, ...readiness(waiting)], MAX_KINDS, beats);
      toldJobs = new Map(work.filter(({ jobs }) => jobs > 0).map((load) => [workKeyOf(load), load.jobs]));
      return { freeSlots: here.freeSlots, islands: toldIslands, work };
    },
    /** Whom to ask for jobs now. {@link noteRest} and {@link answered}, or {@link failed}, must follow. */
    nextSteal(nowMs: number): Steal | undefined {
      const recent = [...asked.values()].filter(({ sinceMs }) => nowMs - sinceMs < AVOIDANCE_DELAY_MS);
      if (recent.length >= MAX_ASKED) return undefined;
      const some = rotatingSlice([...demands.values()], MAX_DEMANDS, beats);
      if (some.length === 0) return undefined;
      const offered = new Set(recent.flatMap(({ islandIds }) => islandIds));
      const startable = some.filter(({ kind }) => here.freeSlotFor(kind) !== undefined);
      const others = some.filter((demand) => !startable.includes(demand));
      const start = stealToStart(startable, offered, nowMs);
      const steal = start ?? (recent.length === 0 ? stealToBalance(others, nowMs) : undefined);
      if (steal === undefined) return undefined;
      const islandIds = steal.request.offer.islands.map(({ id }) => id);
      asked.set(steal.victimId, { sinceMs: nowMs, islandIds });
      return steal;
    },
    /** What the one who was asked still has. To be told when its answer comes: what it says after that is newer. */
    noteRest(victimId: string, rest: readonly WorkLoad[]): void {
      const peer = peers.get(victimId);
      if (peer === undefined) return;
      for (const load of rest) {
        peer.work.set(workKeyOf(load), load);
        noteDemand(peer, load);
      }
    },
    /** @param got Number of jobs that came. */
    answered(victimId: string, got: number, nowMs: number): void {
      asked.delete(victimId);
      if (got === 0) notBeforeMs.set(victimId, nowMs + AGAIN.emptyMs);
    },
    failed(victimId: string, nowMs: number): void {
      asked.delete(victimId);
      notBeforeMs.set(victimId, nowMs + AGAIN.failedMs);
    },
    /** Takes the jobs out of the queues that another coordinator gets: by fair order, and no more than it should have. */
    give(toId: string, { offer, backlog }: StealRequest): string[] {
      const jobIds = here.takeFor(offer, MAX_JOBS);
      for (const load of backlog) {
        const own = here.loadOf(load);
        const jobs = jobsToTake(load, own, sum(sumOf(workKeyOf(load), toId), own, load));
        jobIds.push(...here.takeNext(load, Math.min(jobs, MAX_JOBS - jobIds.length)));
      }
      return jobIds;
    },
    /** What is left here of the kinds that a coordinator asked for, as it is told now. */
    restOf({ offer, backlog }: StealRequest): WorkLoad[] {
      return [...offer.kinds, ...backlog].map((kind) => {
        const load = here.loadOf(kind);
        if (load.jobs === 0) emptied.add(workKeyOf(kind));
        return load;
      });
    },
  };
}

/** The whole list if it is short enough, else another part of it in each turn. */
function rotatingSlice<T>(list: readonly T[], max: number, round: number): readonly T[] {
  if (list.length <= max) return list;
  const from = (round * max) % list.length;
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
