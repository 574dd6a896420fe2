import type { Clock, Timer } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import type { Logger } from "../../shared/logger.ts";
import { ServiceError } from "../../shared/errors.ts";
import { CONTENT_PARTS, type ContentPart, type RemovalSubject } from "../store/jobs/content.ts";
import { DAY_MS, utcDayOf } from "../store/ledger/host-figures.ts";
import type { Store } from "../store/store.ts";

/** How long things are kept, in ms; 0 keeps them for ever. */
export interface RetentionPeriods {
  readonly keepInputsMs: number;
  readonly keepOutputsMs: number;
  readonly keepWebhookLogMs: number;
  readonly keepUnseenIslandsMs: number;
}

export interface RetentionDeps {
  readonly store: Pick<Store, "content" | "islands" | "hostFigures" | "usage">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "error">;
  readonly periods: RetentionPeriods;
  /** Host ids of the Islands that are connected. */
  readonly onlineIslands: () => readonly string[];
  /** Ends what a deleted account still has in the running coordinator: its unfinished jobs and its Cargos. May be called again. */
  readonly endAccount: (accountId: string) => Promise<void>;
}

/** What a sweep removed, in numbers of each. */
export interface SweepReport {
  readonly inputs: number;
  readonly outputs: number;
  readonly webhooks: number;
  readonly islands: number;
}

/** Figures of Islands by day. The longest period that is shown has 30 days. */
const KEEP_FIGURES_MS = 90 * DAY_MS;
/** What accounts spent and earned by day. The longest range that is shown has 366 days; the ledger has all of it. */
const KEEP_USAGE_MS = 400 * DAY_MS;
/** A job may end earlier by the wall clock than jobs before it, if the clock is set back. */
const MAX_CLOCK_JUMP_MS = 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Things in one step. Each step is a write of its own, and other writes go between two steps. */
const STEP = 100;
/** Deletions of this time share one emptying of the log, which stops writes for some ms. */
const TRUNCATE_AFTER_MS = 1_000;
const TRUNCATE_RETRY_MS = 10_000;

/** Removes content: at its owner's wish, and what is older than the operator keeps. It owns the timers for both. README.md has the rules. */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #stop = new AbortController();
  /** No job that ended before has the part. A start looks at all again. */
  readonly #removedUntilMs: Record<ContentPart, number> = { input: 0, output: 0 };
  #sweepNow: () => Promise<void> = () => Promise.resolve();
  #truncating: Promise<void> = Promise.resolve();
  #truncateTimer: Timer | null = null;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** Sweeps now, in the background, and an hour after the end of each sweep. */
  start(): void {
    const loop = { ...this.#deps, stop: this.#stop.signal };
    this.#sweepNow = every(loop, SWEEP_EVERY_MS, "remove what is older than it is kept", () => this.sweep());
    void this.#sweepNow();
  }

  /**
   * Removes the prompts and answers of all the subject's ended jobs, and of an account all else. Resolves when nobody can read them any
   * more; about a second later they are in no file. Continues after a crash, and may be called again.
   */
  async remove(subject: RemovalSubject): Promise<void> {
    await this.#deps.store.content.begin(subject, this.#deps.clock.now());
    await this.#carryOut(subject);
  }

  /** Completes removals that were interrupted. May be called while they are under way. */
  async resume(): Promise<void> {
    for (const subject of await this.#deps.store.content.underWay()) await this.#carryOut(subject);
  }

  /** Completes removals that were interrupted, then removes what is older than it is kept: of several coordinators, one in each period. */
  async sweep(): Promise<SweepReport> {
    const { store, clock, log, periods, onlineIslands } = this.#deps;
    await this.resume();
    const report = { inputs: 0, outputs: 0, webhooks: 0, islands: 0 };
    if (periods.keepUnseenIslandsMs > 0) {
      // Each coordinator says which it sees, whoever sweeps.
      const online = onlineIslands();
      for (let at = 0; at < online.length; at += STEP)
        await store.islands.touch(online.slice(at, at + STEP), clock.now());
    }
    if (!(await store.content.takeSweep(SWEEP_EVERY_MS))) return report;
    report.inputs = await this.#sweepPart("input", periods.keepInputsMs);
    report.outputs = await this.#sweepPart("output", periods.keepOutputsMs);
    report.webhooks = await this.#inSteps(periods.keepWebhookLogMs, (byMs) => store.content.removeWebhooks(byMs, STEP));
    report.islands = await this.#inSteps(periods.keepUnseenIslandsMs, (byMs) => store.islands.forgetUnseen(byMs, STEP));
    await this.#inSteps(KEEP_FIGURES_MS, (byMs) => store.hostFigures.forgetDays(utcDayOf(byMs), STEP));
    await this.#inSteps(KEEP_USAGE_MS, (byMs) => store.usage.forgetDays(utcDayOf(byMs), STEP));
    while (!this.#stop.signal.aborted && (await store.content.reclaim()));
    if (Object.values(report).some((count) => count > 0)) {
      log.info(report, "Removed what is older than it is kept");
      this.#truncateSoon(TRUNCATE_AFTER_MS);
    }
    return report;
  }

  /** Stops the timers and waits for the step in progress. Call it before the store is closed. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#truncateTimer?.cancel();
    await this.#truncating;
    await this.#sweepNow();
  }

  async #carryOut(subject: RemovalSubject): Promise<void> {
    const { store, clock, endAccount } = this.#deps;
    if (subject.kind === "account") await endAccount(subject.id);
    const nextJobs = (afterId: string): Promise<string[]> => store.content.jobsOf(subject, afterId, STEP);
    await this.#removeAll(nextJobs, subject.kind === "output" ? ["output"] : CONTENT_PARTS, subject.kind === "job");
    if (subject.kind === "account") {
      while (!this.#stop.signal.aborted && !(await store.content.removeOfAccount(subject.id)));
    }
    if (this.#stop.signal.aborted) return;
    await store.content.finish(subject, clock.now());
    this.#truncateSoon(TRUNCATE_AFTER_MS);
  }

  #sweepPart(part: ContentPart, keepMs: number): Promise<number> {
    if (keepMs === 0) return Promise.resolve(0);
    const endedByMs = this.#deps.clock.now() - keepMs;
    const next = async (): Promise<string[]> => {
      const sinceMs = this.#removedUntilMs[part];
      const jobs = await this.#deps.store.content.expired(part, { sinceMs, endedByMs }, STEP);
      this.#removedUntilMs[part] = jobs[0]?.endedAtMs ?? Math.max(sinceMs, endedByMs - MAX_CLOCK_JUMP_MS);
      return jobs.map(({ id }) => id);
    };
    return this.#removeAll(next, [part], false);
  }

  /** Removes parts of all jobs that `next` names, page by page. Resolves with their number. */
  async #removeAll(
    next: (afterId: string) => Promise<string[]>,
    parts: readonly ContentPart[],
    withMessages: boolean,
  ): Promise<number> {
    const { store, clock } = this.#deps;
    let count = 0;
    let lastId = "";
    for (let jobIds = await next(lastId); jobIds.length > 0; jobIds = await next(lastId)) {
      lastId = jobIds.at(-1) ?? lastId;
      count += jobIds.length;
      for (let left = jobIds; left.length > 0 && !this.#stop.signal.aborted;) {
        const done = await store.content.remove(left, { parts, withMessages, atMs: clock.now() });
        left = left.slice(done);
      }
      if (this.#stop.signal.aborted) break;
    }
    return count;
  }

  async #inSteps(keepMs: number, step: (byMs: number) => Promise<number>): Promise<number> {
    if (keepMs === 0) return 0;
    const byMs = this.#deps.clock.now() - keepMs;
    let count = 0;
    for (let done = STEP; done === STEP && !this.#stop.signal.aborted;) {
      done = await step(byMs);
      count += done;
    }
    return count;
  }

  /** The log of the database has copies of what was removed, until it is emptied. */
  #truncateSoon(delayMs: number): void {
    if (this.#truncateTimer !== null || this.#stop.signal.aborted) return;
    this.#truncateTimer = this.#deps.clock.schedule(delayMs, () => {
      this.#truncateTimer = null;
      this.#truncating = this.#deps.store.content.truncateLog().then(
        (isEmpty) => {
          if (!isEmpty) this.#truncateSoon(TRUNCATE_RETRY_MS);
        },
        (error: unknown) => {
          if (error instanceof ServiceError && error.code === "shutting_down") return;
          this.#deps.log.error({ err: error }, "Emptying the database's log failed");
        },
      );
    });
  }
}
