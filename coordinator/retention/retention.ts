import type { Timer } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import { CONTENT_PARTS, type ContentPart, type RemovalSubject } from "../store/jobs/content.ts";
import { DAY_MS, utcDayOf } from "../store/ledger/host-metrics.ts";
import type { Store } from "../store/store.ts";

/** CoordinatorMetrics of Islands by day. The longest period that is shown has 30 days. */
const KEEP_METRICS_MS = 90 * DAY_MS;
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

type Keep = "keepInputsMs" | "keepOutputsMs" | "keepWebhookLogMs" | "keepUnseenIslandsMs";

export type Retention = ReturnType<typeof openRetention>;

/**
 * Removes content: at its owner's wish, and what is older than the operator keeps. It owns the timers for both. README.md has the rules.
 * @param onlineIslands Host ids of the Islands that are connected.
 */
export function openRetention(
  { config, clock, log }: Env<Keep>,
  store: Pick<Store, "content" | "islands" | "hostMetrics" | "usage">,
  onlineIslands: () => readonly string[],
) {
  const accountEnds: ((accountId: string) => Promise<unknown>)[] = [];
  const stop = new AbortController();
  /** No job that ended before has the part. A start looks at all again. */
  const removedUntilMs: Record<ContentPart, number> = { input: 0, output: 0 };
  let sweepNow: () => Promise<void> = () => Promise.resolve();
  let truncating: Promise<void> = Promise.resolve();
  let truncateTimer: Timer | null = null;

  /**
   * Removes the prompts and answers of all the subject's ended jobs, and of an account all else. Resolves when they can no longer be read;
   * about a second later they are in no file. Continues after a crash, and may be called again.
   */
  async function remove(subject: RemovalSubject): Promise<void> {
    await store.content.begin(subject, clock.now());
    await carryOut(subject);
  }

  /** Completes removals that were interrupted. May be called while they are under way. */
  async function resume(): Promise<void> {
    for (const subject of await store.content.inFlight()) await carryOut(subject);
  }

  /**
   * Completes removals that were interrupted, then removes what is older than it is kept: of several coordinators, one in each period.
   * Resolves with the numbers of what was removed.
   */
  async function sweep() {
    await resume();
    const report = { inputs: 0, outputs: 0, webhooks: 0, islands: 0 };
    if (config.keepUnseenIslandsMs > 0) {
      // Each coordinator says which it sees, whoever sweeps.
      const online = onlineIslands();
      for (let at = 0; at < online.length; at += STEP)
        await store.islands.touch(online.slice(at, at + STEP), clock.now());
    }
    if (!(await store.content.takeSweep(SWEEP_EVERY_MS))) return report;
    report.inputs = await sweepPart("input", config.keepInputsMs);
    report.outputs = await sweepPart("output", config.keepOutputsMs);
    report.webhooks = await inSteps(config.keepWebhookLogMs, (byMs) => store.content.removeWebhooks(byMs, STEP));
    report.islands = await inSteps(config.keepUnseenIslandsMs, (byMs) => store.islands.forgetUnseen(byMs, STEP));
    await inSteps(KEEP_METRICS_MS, (byMs) => store.hostMetrics.forgetDays(utcDayOf(byMs), STEP));
    await inSteps(KEEP_USAGE_MS, (byMs) => store.usage.forgetDays(utcDayOf(byMs), STEP));
    while (!stop.signal.aborted && (await store.content.reclaim()));
    if (Object.values(report).some((count) => count > 0)) {
      log.info(report, "Removed what is older than it is kept");
      truncateSoon(TRUNCATE_AFTER_MS);
    }
    return report;
  }

  async function carryOut(subject: RemovalSubject): Promise<void> {
    // One after the other: those that were opened last use the others.
    // oxlint-disable-next-line no-await-in-loop
    if (subject.kind === "account") for (const end of accountEnds.toReversed()) await end(subject.id);
    const nextJobs = (afterId: string): Promise<string[]> => store.content.jobsOf(subject, afterId, STEP);
    await removeAll(nextJobs, subject.kind === "output" ? ["output"] : CONTENT_PARTS, subject.kind === "job");
    if (subject.kind === "account") {
      while (!stop.signal.aborted && !(await store.content.removeOfAccount(subject.id)));
    }
    if (stop.signal.aborted) return;
    await store.content.finish(subject, clock.now());
    truncateSoon(TRUNCATE_AFTER_MS);
  }

  async function sweepPart(part: ContentPart, keepMs: number): Promise<number> {
    if (keepMs === 0) return 0;
    const endedByMs = clock.now() - keepMs;
    const next = async (): Promise<string[]> => {
      const sinceMs = removedUntilMs[part];
      const jobs = await store.content.expired(part, { sinceMs, endedByMs }, STEP);
      removedUntilMs[part] = jobs[0]?.endedAtMs ?? Math.max(sinceMs, endedByMs - MAX_CLOCK_JUMP_MS);
      return jobs.map(({ id }) => id);
    };
    return removeAll(next, [part], false);
  }

  /** Removes parts of all jobs that `next` names, page by page. Resolves with their number. */
  async function removeAll(
    next: (afterId: string) => Promise<string[]>,
    parts: readonly ContentPart[],
    withMessages: boolean,
  ): Promise<number> {
    let count = 0;
    let lastId = "";
    for (let jobIds = await next(lastId); jobIds.length > 0; jobIds = await next(lastId)) {
      lastId = jobIds.at(-1) ?? lastId;
      count += jobIds.length;
      for (let left = jobIds; left.length > 0 && !stop.signal.aborted;) {
        const done = await store.content.remove(left, { parts, withMessages, atMs: clock.now() });
        left = left.slice(done);
      }
      if (stop.signal.aborted) break;
    }
    return count;
  }

  async function inSteps(keepMs: number, step: (byMs: number) => Promise<number>): Promise<number> {
    if (keepMs === 0) return 0;
    const byMs = clock.now() - keepMs;
    let count = 0;
    for (let done = STEP; done === STEP && !stop.signal.aborted;) {
      done = await step(byMs);
      count += done;
    }
    return count;
  }

  /** The log of the database has copies of what was removed, until it is emptied. */
  function truncateSoon(delayMs: number): void {
    if (truncateTimer !== null || stop.signal.aborted) return;
    truncateTimer = clock.schedule(delayMs, () => {
      truncateTimer = null;
      truncating = store.content.truncateLog().then(
        (isEmpty) => {
          if (!isEmpty) truncateSoon(TRUNCATE_RETRY_MS);
        },
        (error: unknown) => {
          if (error instanceof ServiceError && error.code === "shutting_down") return;
          log.error({ err: error }, "Emptying the database's log failed");
        },
      );
    });
  }

  return {
    remove,
    resume,
    sweep,

    /** Calls `end` for each account that is deleted, perhaps more than once: it ends what the account still has in the running coordinator. */
    onAccountEnd(end: (accountId: string) => Promise<unknown>): void {
      accountEnds.push(end);
    },

    /** Sweeps now, in the background, and an hour after the end of each sweep. */
    start(): void {
      const loop = { clock, log, stop: stop.signal };
      sweepNow = every(loop, SWEEP_EVERY_MS, "remove what is older than it is kept", sweep);
      void sweepNow();
    },

    /** Stops the timers and waits for the step in progress. Call it before the store is closed. */
    async close(): Promise<void> {
      stop.abort();
      truncateTimer?.cancel();
      await truncating;
      await sweepNow();
    },
  };
}
