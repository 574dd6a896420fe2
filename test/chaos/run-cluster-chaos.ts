import { accountProblems } from "../support/store/account-books.ts";
import { Cluster } from "../support/network/cluster.ts";
import { Random } from "../support/random.ts";
import { WordIsland } from "../cluster/word-island.ts";
import { ClusterFaults, type ClusterFaultKind } from "./cluster-faults.ts";
import { LaneHistory, runLane } from "./cluster-lane.ts";

const ACCOUNTS = 20;
const GRANTED = 100_000;
const ISLANDS = 6;
const SLOTS = 40;
/** Time in which all acknowledged jobs must end after the last fault is repaired. */
const MAX_SETTLE_MS = 120_000;

export interface ClusterChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly coordinators: number;
  /** Time between the starts of two faults. */
  readonly everyMs: number;
  readonly kinds: readonly ClusterFaultKind[];
  /** Concurrent jobs, and the number of them whose streams are read. */
  readonly jobs: number;
  readonly streams: number;
}

interface ClusterChaosResult {
  readonly violations: readonly string[];
  readonly faults: Partial<Record<ClusterFaultKind, number>>;
  readonly jobs: number;
  readonly streams: number;
  readonly attempts: Readonly<Record<number, number>>;
  readonly positionsLost: number;
  /** Cuts of active streams, and the times until their next events. */
  readonly cuts: { readonly count: number; readonly p50Ms: number | null; readonly maxMs: number | null };
  readonly islandReconnects: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Runs coordinators on one database under faults, with Islands that output counted words. Repairs all faults and checks
 * all guarantees.
 */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosResult> {
  const { seed, minutes, coordinators, everyMs, kinds, jobs, streams } = options;
  const random = new Random(seed);
  const history = new LaneHistory();
  await using cluster = await Cluster.open({ coordinators });
  const unlimited = { concurrentJobs: 1_000, concurrentStreams: 1_000 };
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) =>
    cluster.createAccount(`client-${index}@example.com`, GRANTED, unlimited),
  );
  const owner = cluster.createAccount("owner@example.com", 0);
  await using islands = new AsyncDisposableStack();
  const agents: WordIsland[] = [];
  for (let index = 0; index < ISLANDS; index += 1) {
    agents.push(islands.use(await WordIsland.open({ urls: cluster.islandUrls(index), owner, slots: SLOTS })));
  }
  const faults = new ClusterFaults(cluster, random.fork(), kinds);
  const deadline = new AbortController();
  let isOpen = true;
  const lanes = Array.from({ length: jobs }, (_, id) =>
    runLane({
      ...{ id, history, random: random.fork(), isReader: id < streams, deadline: deadline.signal },
      nextUrl: () => cluster.nextUrl(),
      key: accounts[id % ACCOUNTS]?.key ?? "",
      isOpen: () => isOpen,
    }),
  );
  const endMs = performance.now() + minutes * 60_000;
  await wait(everyMs / 2);
  while (performance.now() < endMs) {
    const beganMs = performance.now();
    await faults.next();
    await wait(Math.max(0, beganMs + everyMs - performance.now()));
  }
  isOpen = false;
  const limit = setTimeout(() => deadline.abort(), MAX_SETTLE_MS);
  await Promise.all(lanes);
  clearTimeout(limit);

  const violations = [...history.violations, ...faults.badEnds];
  for (const [index, { key }] of accounts.entries()) {
    const problems = await accountProblems(cluster.nextUrl(), key, GRANTED);
    violations.push(...problems.map((line) => `client ${index}: ${line}`));
  }
  const left = agents.map(({ agent }) => agent.status().running.length);
  if (left.some((running) => running > 0)) violations.push(`Islands still run ${left.join(", ")} jobs`);
  const books = await cluster.manage("ledger", "verify");
  if (books.code !== 0) violations.push(`ledger verify: ${books.stdout}${books.stderr}`);
  const resumed = history.resumedAfterMs.map(Math.round).toSorted((a, b) => a - b);
  return {
    violations,
    faults: faults.counts,
    jobs: history.jobs,
    streams: history.streams,
    attempts: history.attempts,
    positionsLost: history.positionsLost,
    cuts: {
      count: resumed.length,
      p50Ms: resumed[Math.floor(resumed.length / 2)] ?? null,
      maxMs: resumed.at(-1) ?? null,
    },
    islandReconnects: agents.reduce((sum, { agent }) => sum + agent.status().reconnects, 0),
  };
}
