import type { Clock } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import type { Logger } from "../../shared/logger.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import { DAY_MS, NO_COUNTS, utcDayOf, type HostCounts, type HostDay } from "../store/ledger/host-figures.ts";
import type { Store } from "../store/store.ts";

export interface HostFiguresDeps {
  readonly store: Pick<Store, "hostFigures" | "islands" | "usage">;
  readonly islands: Pick<IslandRegistry, "subscribe" | "get" | "remove">;
  readonly jobs: Pick<JobRegistry, "subscribe">;
  readonly clock: Pick<Clock, "now" | "schedule">;
  readonly log: Pick<Logger, "error">;
}

const STORE_EVERY_MS = 60_000;
/** Islands in one write; other writes go between two. */
const STEP = 100;
/** Entries of the ledger in one write. */
const ENTRIES = 5_000;
/** At once. What is left is summed up a minute later. */
const MAX_SUM_STEPS = 200;

type Counts = { -readonly [Name in keyof HostCounts]: number };

interface Session {
  readonly accountId: string;
  /** Time until here is counted. */
  countedMs: number;
}

/**
 * What Islands do: time online, how their jobs end, tokens. It is gathered in memory and stored once a minute, so that jobs cost nothing; a
 * crash loses the last minute. The same turn notes which Islands are seen, ends sessions of Islands whose removal was not heard of here, and
 * sums up earnings and usage of the ledger.
 */
export class HostFigures {
  readonly #deps: HostFiguresDeps;
  /** Connected Islands, by host id. */
  readonly #online = new Map<string, Session>();
  /** Not stored yet. */
  #gathered = new Map<string, HostDay & Counts>();
  readonly #stop = new AbortController();
  #isClosed = false;
  /** Stores what is gathered. Resolves also when that fails: it is stored the next time. */
  readonly store: () => Promise<void>;

  constructor(deps: HostFiguresDeps) {
    this.#deps = deps;
    deps.islands.subscribe((event) => {
      if (event.type === "island_up") {
        const { id, accountId } = event.island;
        this.#online.set(id, { accountId, countedMs: deps.clock.now() });
      } else if (event.type === "island_down") {
        this.#countTime(event.islandId, deps.clock.now());
        this.#online.delete(event.islandId);
      }
    });
    deps.jobs.subscribe((event) => {
      if (event.type === "attempt_failed") this.#add(event.job, (counts) => (counts.retried += 1));
      if (event.type === "job_ended") this.#countEnd(event.job);
    });
    const loop = { ...deps, stop: this.#stop.signal };
    this.store = every(loop, STORE_EVERY_MS, "store the figures of Islands", () => this.#store());
  }

  /** Stores what is gathered, for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.store();
    this.#stop.abort();
  }

  async #store(): Promise<void> {
    const { store, clock } = this.#deps;
    const nowMs = clock.now();
    for (const hostId of this.#online.keys()) this.#countTime(hostId, nowMs);
    const rows = [...this.#gathered.values()];
    this.#gathered = new Map();
    for (let from = 0; from < rows.length; from += STEP) {
      try {
        await store.hostFigures.addCounts(rows.slice(from, from + STEP));
      } catch (error) {
        for (const row of rows.slice(from)) this.#keep(row);
        throw error;
      }
    }
    await this.#lookAtOnline(nowMs);
    let steps = 0;
    while ((await store.hostFigures.sumUpEarnings(ENTRIES)) && !this.#isClosed && (steps += 1) < MAX_SUM_STEPS);
    steps = 0;
    while ((await store.usage.sumUp(ENTRIES)) && !this.#isClosed && (steps += 1) < MAX_SUM_STEPS);
  }

  async #lookAtOnline(nowMs: number): Promise<void> {
    const { store, islands } = this.#deps;
    const online = [...this.#online.keys()];
    for (let from = 0; from < online.length; from += STEP) {
      const hostIds = online.slice(from, from + STEP);
      await store.islands.touch(hostIds, nowMs);
      for (const hostId of await store.islands.removedOf(hostIds)) {
        const session = this.#online.get(hostId);
        if (session !== undefined) islands.remove(session.accountId, hostId);
      }
    }
  }

  /** Time online since the last count, to the days that it was of. */
  #countTime(hostId: string, nowMs: number): void {
    const session = this.#online.get(hostId);
    if (session === undefined) return;
    while (session.countedMs < nowMs) {
      const day = utcDayOf(session.countedMs);
      const untilMs = Math.min(nowMs, (day + 1) * DAY_MS);
      this.#countsOf({ accountId: session.accountId, hostId, day }).onlineMs += untilMs - session.countedMs;
      session.countedMs = untilMs;
    }
  }

  #countEnd(job: ActiveJob): void {
    this.#add(job, (counts) => {
      counts.tokens += job.feed.tokens;
      if (job.state === "completed") counts.completed += 1;
      else if (job.state === "cancelled") counts.cancelled += 1;
      else if (job.state === "timeout") counts.timedOut += 1;
      else counts.failed += 1;
    });
  }

  /** Nothing for a job that no Island has. */
  #add({ islandId: hostId }: ActiveJob, add: (counts: Counts) => void): void {
    const accountId = hostId === null ? undefined : this.#deps.islands.get(hostId)?.accountId;
    if (hostId === null || accountId === undefined) return;
    add(this.#countsOf({ accountId, hostId, day: utcDayOf(this.#deps.clock.now()) }));
  }

  #keep(row: HostDay & HostCounts): void {
    const counts = this.#countsOf(row);
    for (const name of Object.keys(NO_COUNTS) as (keyof HostCounts)[]) counts[name] += row[name];
  }

  #countsOf({ accountId, hostId, day }: HostDay): Counts {
    const key = `${accountId} ${hostId} ${day}`;
    let counts = this.#gathered.get(key);
    if (counts === undefined) this.#gathered.set(key, (counts = { accountId, hostId, day, ...NO_COUNTS }));
    return counts;
  }
}
