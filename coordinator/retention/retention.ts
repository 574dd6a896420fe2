import type { Timer } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import { CONTENT_PARTS, type ContentPart, type RemovalSubject } from "../store/jobs/content.ts";
import { DAY_MS, utcDayOf } from "../store/ledger/host-metrics.ts";
import type { Store } from "../store/store.ts";

/** Retention of the metrics of Islands. The longest period shown is 30 days. */
const KEEP_METRICS_MS = 90 * DAY_MS;
/** Retention of usage lines. The longest range shown is 366 days; the ledger keeps everything. */
const KEEP_USAGE_MS = 400 * DAY_MS;
/** Maximum time by which a clock may be set back, which gives a job an earlier end than jobs before it. */
const MAX_CLOCK_JUMP_MS = 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Maximum number of items of a step, which is one write, so that other writes run between two steps. */
const STEP = 100;
/** Delay of a truncation of the log, which blocks writes for several ms. Several removals thus share one truncation. */
const TRUNCATE_AFTER_MS = 1_000;
const TRUNCATE_RETRY_MS = 10_000;

export type Retention = ReturnType<typeof openRetention>;

/**
 * Opens the retention, which removes content at its owner's request and past the operator's periods (see README.md).
 */
export function openRetention(
  { config, clock, log }: Env<"keepInputsMs" | "keepOutputsMs" | "keepWebhookLogMs" | "keepUnseenIslandsMs">,
  store: Pick<Store, "content" | "islands" | "hostMetrics" | "usage">,
  onlineIslands: () => readonly string[],
) {
  const accountEnds: ((accountId: string) => Promise<unknown>)[] = [];
  const stop = new AbortController();
  /**
   * Times by part: no job that ended before the time still has the part. 0 after a start, so that all jobs are checked.
   */
  const removedUntilMs: Record<ContentPart, number> = { input: 0, output: 0 };
  let sweepNow: () => Promise<void> = () => Promise.resolve();
  let truncating: Promise<void> = Promise.resolve();
  let truncateTimer: Timer | null = null;

  /**
   * Removes the prompts and outputs of the subject; for an account, all its data. Resolves when requests can no longer
   * read them; about a second later no file contains them. May be called repeatedly.
   */
  async function remove(subject: RemovalSubject): Promise<void> {
    await store.content.begin(subject, clock.now());
    await carryOut(subject);
  }

  /** Completes interrupted removals. May be called while they are in progress. */
  async function resume(): Promise<void> {
    for (const subject of await store.content.inFlight()) await carryOut(subject);
  }

  /** Removes everything past its retention period. Resolves with the numbers of removed items. */
  async function sweep() {
    await resume();
    const report = { inputs: 0, outputs: 0, webhooks: 0, islands: 0 };
    if (config.keepUnseenIslandsMs > 0) {
      // Every coordinator records its own Islands as seen, even if only one coordinator sweeps.
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
      log.info(report, "Removed content past its retention period");
      truncateSoon(TRUNCATE_AFTER_MS);
    }
    return report;
  }

  async function carryOut(subject: RemovalSubject): Promise<void> {
    const { kind, id } = subject;
    // oxlint-disable-next-line no-await-in-loop -- In reverse order, because components opened last use earlier ones.
    if (kind === "account") for (const end of accountEnds.toReversed()) await end(id);
    const nextJobs = (afterId: string): Promise<string[]> => store.content.jobsOf(subject, afterId, STEP);
    await removeAll(nextJobs, kind === "output" ? ["output"] : CONTENT_PARTS, kind === "job");
    if (kind === "account") while (!stop.signal.aborted && !(await store.content.removeOfAccount(id)));
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

  /** Removes parts of the jobs that `next` returns page by page. Resolves with the number of jobs. */
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

  /** Schedules a truncation of the database's log, which contains removed content until then. */
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
          log.error({ err: error }, "Could not truncate the write-ahead log");
        },
      );
    });
  }

  return {
    remove,
    resume,
    sweep,

    /** Registers `end`, which removes Cargos, files, batches or jobs of a deleted account. It must be repeatable. */
    onAccountEnd(end: (accountId: string) => Promise<unknown>): void {
      accountEnds.push(end);
    },

    /** Starts to sweep in the background: now, and an hour after the end of each sweep. */
    start(): void {
      const loop = { clock, log, stop: stop.signal };
      sweepNow = every(loop, SWEEP_EVERY_MS, "remove content past its retention period", sweep);
      void sweepNow();
    },

    /** Stops the timers and waits for the step in progress. Must be called before the store is closed. */
    async close(): Promise<void> {
      stop.abort();
      truncateTimer?.cancel();
      await truncating;
      await sweepNow();
    },
  };
}
