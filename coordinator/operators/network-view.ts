import type { Clock } from "../../shared/clock.ts";
import { MAX_SHOWN_ISLANDS, MESSAGES, type CoordinatorMetrics, type WaitingWork } from "../cluster/messages.ts";
import type { Peers } from "../cluster/peers.ts";
import type { LiveIsland } from "../islands/live-island.ts";
import { SEEN_LATELY_MS, type Connections } from "../islands/island-service.ts";
import type { Store } from "../store/store.ts";
import { mergeCounts, quantileOf } from "./coordinator-metrics.ts";

/** A coordinator of the network. `id`: null for a single coordinator. `metrics`: null if it did not reply. */
export interface CoordinatorLine {
  readonly id: string | null;
  readonly address: string;
  readonly version: string;
  readonly metrics: CoordinatorMetrics | null;
}

export interface Overview {
  readonly islands: { readonly online: number; readonly known: number };
  readonly slots: { readonly free: number; readonly all: number };
  readonly jobs: { readonly running: number; readonly waiting: number; readonly finishedLastMinute: number };
  /** Waiting jobs by Cargo and reason. The message is from the coordinator with the most of these jobs. */
  readonly queue: readonly WaitingWork[];
  readonly tokensPerSecond: number;
  readonly firstTokenMs: { readonly p50: number | null; readonly p99: number | null };
  /** Number of jobs that failed or timed out. */
  readonly errorsLastMinute: number;
  readonly work: NonNullable<CoordinatorMetrics["work"]>;
  readonly coordinators: readonly CoordinatorLine[];
}

/** Time for which the overview is cached, and for which this coordinator's metrics are cached. */
const CACHE_MS = 1_000;
const METRICS_CACHE_MS = 500;
/** Time for which the number of known Islands is cached, in ms per Island: the count scans all of them. */
const COUNT_CACHE_MS_BY_ISLAND = 1;
const UNANSWERED_LOG = "A peer did not reply to the operator query";

export type NetworkView = ReturnType<typeof networkView>;

/** Combines the metrics of all coordinators into an overview. */
export function networkView(
  readMetrics: () => CoordinatorMetrics,
  liveHere: (hostIds: readonly string[]) => readonly LiveIsland[],
  store: Pick<Store, "operators" | "cluster">,
  peers: Pick<Peers, "askAll" | "handle" | "self">,
  clock: Pick<Clock, "now" | "monotonicMs">,
) {
  let last: { readonly atMs: number; readonly overview: Promise<Overview> } | null = null;
  let metrics: { readonly atMs: number; readonly read: CoordinatorMetrics } | null = null;
  let counted: { readonly atMs: number; readonly known: number } | null = null;

  const metricsHere = (): CoordinatorMetrics => {
    const nowMs = clock.monotonicMs();
    if (metrics === null || nowMs - metrics.atMs >= METRICS_CACHE_MS) metrics = { atMs: nowMs, read: readMetrics() };
    return metrics.read;
  };

  const countKnown = async (): Promise<number> => {
    const nowMs = clock.monotonicMs();
    if (counted !== null && nowMs - counted.atMs < counted.known * COUNT_CACHE_MS_BY_ISLAND) return counted.known;
    const { known } = await store.operators.countIslands(clock.now() - SEEN_LATELY_MS);
    counted = { atMs: nowMs, known };
    return known;
  };

  const readOverview = async (): Promise<Overview> => {
    const [stored, others] = await Promise.all([countKnown(), peers.askAll(MESSAGES.metrics, null, UNANSWERED_LOG)]);
    const { id: selfId, ...self } = peers.self;
    const coordinators: CoordinatorLine[] = [
      { ...self, id: store.cluster.isShared ? selfId : null, metrics: metricsHere() },
      ...others.map(({ reply, ...peer }) => ({ ...peer, metrics: reply ?? null })),
    ];
    const known = coordinators.flatMap((each) => each.metrics ?? []);
    const sum = (read: (each: CoordinatorMetrics) => number): number =>
      known.reduce((total, each) => total + read(each), 0);
    const firstTokens = mergeCounts(known.map(({ firstToken }) => firstToken));
    const online = sum(({ islands }) => islands);
    return {
      islands: { online, known: Math.max(stored, online) },
      slots: { free: sum(({ slots }) => slots.free), all: sum(({ slots }) => slots.all) },
      jobs: {
        running: sum(({ jobs }) => jobs.running),
        waiting: sum(({ jobs }) => jobs.waiting),
        finishedLastMinute: sum(({ ended }) => ended.all),
      },
      queue: mergeQueues(known.map(({ waiting, islands }) => reasonsIn(waiting, online - islands))),
      tokensPerSecond: sum(({ tokensPerSecond }) => tokensPerSecond),
      firstTokenMs: { p50: quantileOf(firstTokens, 0.5), p99: quantileOf(firstTokens, 0.99) },
      errorsLastMinute: sum(({ ended }) => ended.failed),
      work: {
        promptTokens: sum(({ work }) => work?.promptTokens ?? 0),
        cachedTokens: sum(({ work }) => work?.cachedTokens ?? 0),
        islands: mergeIslands(known.flatMap(({ work }) => work?.islands ?? [])),
      },
      coordinators,
    };
  };

  peers.handle(MESSAGES.metrics, metricsHere);
  peers.handle(MESSAGES.islands, ({ hostIds }) => liveHere(hostIds));

  return {
    /** Returns the overview, at most 1.5 s old. The number of known Islands may be older, by 1 ms for each Island. */
    overview(): Promise<Overview> {
      const nowMs = clock.monotonicMs();
      if (last === null || nowMs - last.atMs >= CACHE_MS) {
        const overview = readOverview();
        last = { atMs: nowMs, overview };
        overview.catch(() => (last = null));
      }
      return last.overview;
    },

    /** Returns the given Islands that are connected to any coordinator. */
    live: async (hostIds: readonly string[]): Promise<Connections> => {
      const replies = hostIds.length === 0 ? [] : await peers.askAll(MESSAGES.islands, { hostIds }, UNANSWERED_LOG);
      const islands = [...replies.flatMap(({ reply }) => reply ?? []), ...liveHere(hostIds)];
      return {
        byId: new Map(islands.map((island) => [island.hostId, island])),
        isComplete: replies.every(({ reply }) => reply !== undefined),
      };
    },
  };
}

/** Adds up the work of Islands that moved from one coordinator to another. */
function mergeIslands(all: Overview["work"]["islands"]): Overview["work"]["islands"] {
  const byId = new Map<string, Overview["work"]["islands"][number]>();
  for (const each of all) {
    const { outputTokens = 0, cachedTokens = 0 } = byId.get(each.islandId) ?? {};
    byId.set(each.islandId, {
      ...each,
      outputTokens: outputTokens + each.outputTokens,
      cachedTokens: cachedTokens + each.cachedTokens,
    });
  }
  return [...byId.values()].sort((a, b) => b.outputTokens - a.outputTokens).slice(0, MAX_SHOWN_ISLANDS);
}

/** Corrects the reasons that one coordinator gave. Islands of other coordinators are online but may not fit. */
function reasonsIn(waiting: readonly WaitingWork[], islandsElsewhere: number): readonly WaitingWork[] {
  if (islandsElsewhere <= 0) return waiting;
  return waiting.map((work) => (work.reason === "no_island_online" ? { ...work, reason: "no_island_fits" } : work));
}

function mergeQueues(all: readonly (readonly WaitingWork[])[]): WaitingWork[] {
  const groups = new Map<string, WaitingWork[]>();
  for (const work of all.flat()) {
    const key = [work.slug, work.onlyIslandsOf ?? "", work.reason].join(" ");
    groups.set(key, [...(groups.get(key) ?? []), work]);
  }
  return [...groups.values()].flatMap(mergeWork).sort((a, b) => b.jobs - a.jobs || (a.slug < b.slug ? -1 : 1));
}

/** Merges entries of one Cargo and reason. A coordinator may report several, for different accounts. */
function mergeWork(works: readonly WaitingWork[]): WaitingWork[] {
  const [most] = works.toSorted((a, b) => b.jobs - a.jobs);
  if (most === undefined) return [];
  const jobs = works.reduce((sum, work) => sum + work.jobs, 0);
  return [{ ...most, jobs, oldestAtMs: Math.min(...works.map(({ oldestAtMs }) => oldestAtMs)) }];
}
