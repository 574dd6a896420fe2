import { every } from "../../shared/async/every.ts";
import type { Env } from "../env.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import {
  DAY_MS,
  hostDayKey,
  NO_COUNTS,
  utcDayOf,
  type HostCounts,
  type HostDay,
} from "../store/ledger/host-metrics.ts";
import type { Store } from "../store/store.ts";

const STORE_MS = 60_000;
/** Maximum number of rows in one write, so that other writes run in between. */
const STEP = 100;
const ENTRIES = 5_000;
/** Maximum number of writes in one run that sums up the ledger. */
const MAX_SUM_STEPS = 200;

type Counts = { -readonly [Name in keyof HostCounts]: number };

interface Session {
  readonly accountId: string;
  /** Time up to which the online time is counted. */
  countedMs: number;
}

/**
 * Counts online time, job results and tokens of Islands, and stores them once a minute. The same timer records which
 * Islands are online, ends sessions of removed Islands, and sums up earnings and usage from the ledger.
 */
export function openHostMetrics(
  { clock, log }: Env,
  store: Pick<Store, "hostMetrics" | "islands" | "usage">,
  islands: Pick<IslandRegistry, "subscribe" | "get" | "remove">,
  jobs: Pick<JobRegistry, "subscribe">,
) {
  /** Sessions of connected Islands by host id. */
  const online = new Map<string, Session>();
  /** Counts that are not stored yet, by Island and day. */
  let gathered = new Map<string, HostDay & Counts>();
  const stop = new AbortController();
  const closing = new AbortController();

  async function storeGathered(): Promise<void> {
    const nowMs = clock.now();
    for (const hostId of online.keys()) countTime(hostId, nowMs);
    // Rows that are neighbours in the table share a write, so that fewer pages are written.
    const rows = [...gathered].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    gathered = new Map();
    for (let from = 0; from < rows.length; from += STEP) {
      try {
        await store.hostMetrics.addCounts(rows.slice(from, from + STEP));
      } catch (error) {
        for (const row of rows.slice(from)) keep(row);
        throw error;
      }
    }
    await pollOnline(nowMs);
    await sumUp(() => store.hostMetrics.sumUpEarnings(ENTRIES));
    await sumUp(() => store.usage.sumUp(ENTRIES));
  }

  async function sumUp(step: () => Promise<boolean>): Promise<void> {
    for (let steps = 0; steps < MAX_SUM_STEPS && (await step()) && !closing.signal.aborted; steps += 1);
  }

  async function pollOnline(nowMs: number): Promise<void> {
    const all = [...online.keys()].toSorted();
    for (let from = 0; from < all.length; from += STEP) {
      const hostIds = all.slice(from, from + STEP);
      await store.islands.touch(hostIds, nowMs);
      for (const hostId of await store.islands.removedOf(hostIds)) {
        const session = online.get(hostId);
        if (session !== undefined) islands.remove(session.accountId, hostId);
      }
    }
  }

  /** Adds the time since the last count to the online time of each day that it covers. */
  function countTime(hostId: string, nowMs: number): void {
    const session = online.get(hostId);
    if (session === undefined) return;
    while (session.countedMs < nowMs) {
      const day = utcDayOf(session.countedMs);
      const untilMs = Math.min(nowMs, (day + 1) * DAY_MS);
      countsOf({ accountId: session.accountId, hostId, day }).onlineMs += untilMs - session.countedMs;
      session.countedMs = untilMs;
    }
  }

  function countEnd({ state, feed }: ActiveJob, counts: Counts): void {
    counts.tokens += feed.tokens;
    if (state === "completed") counts.completed += 1;
    else if (state === "cancelled") counts.cancelled += 1;
    else if (state === "timeout") counts.timedOut += 1;
    else counts.failed += 1;
  }

  function keep(row: HostDay & HostCounts): void {
    const counts = countsOf(row);
    for (const name of Object.keys(NO_COUNTS) as (keyof HostCounts)[]) counts[name] += row[name];
  }

  function countsOf({ accountId, hostId, day }: HostDay): Counts {
    const key = hostDayKey({ accountId, hostId, day });
    let counts = gathered.get(key);
    if (counts === undefined) gathered.set(key, (counts = { accountId, hostId, day, ...NO_COUNTS }));
    return counts;
  }

  islands.subscribe((event) => {
    if (event.type === "island_up") {
      const { id, accountId } = event.island;
      online.set(id, { accountId, countedMs: clock.now() });
    } else if (event.type === "island_down") {
      countTime(event.islandId, clock.now());
      online.delete(event.islandId);
    }
  });
  jobs.subscribe(({ type, job }) => {
    if (type !== "attempt_failed" && type !== "job_ended") return;
    const { islandId: hostId } = job;
    const accountId = hostId === null ? undefined : islands.get(hostId)?.accountId;
    if (hostId === null || accountId === undefined) return;
    const counts = countsOf({ accountId, hostId, day: utcDayOf(clock.now()) });
    if (type === "job_ended") countEnd(job, counts);
    else counts.retried += 1;
  });
  const storeNow = every({ clock, log, stop: stop.signal }, STORE_MS, "store the metrics of Islands", storeGathered);

  return {
    /** Stores the counts now. If that fails, they are stored the next time. */
    store: storeNow,
    /** Stores the counts once more and stops. */
    async close(): Promise<void> {
      closing.abort();
      await storeNow();
      stop.abort();
    },
  };
}
