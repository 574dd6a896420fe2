import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { unknownPasswordHash } from "../accounts/passwords.ts";
import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { grantPostings } from "../credits/postings.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { openUntil } from "../jobs/until-feed.ts";
import { DEFAULT_LIMITS } from "../quotas/account-limits.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { READ_LIMIT_MS } from "./reading-question.ts";

/** E-mail address of the account that pays for audits. It cannot be registered, because it has no domain. */
const AUDITOR = "audits";
/** Maximum number of unfinished jobs of all coordinators. */
const MAX_JOBS = 10_000;
/** Credits that the network gives to that account when it has too few. */
const TOP_UP_MICRO = 1_000 * MICRO_PER_CREDIT;

/**
 * Runs the jobs of audits, which look like those of other accounts.
 * @param stop Aborts when the coordinator stops.
 */
export function openReaderJobs(
  clock: Clock,
  store: Pick<Store, "accounts" | "content" | "islands" | "jobs" | "ledger">,
  jobs: Pick<JobApi, "submit" | "deleteContent">,
  stop: AbortSignal,
) {
  let payerId: string | null = null;

  async function submit(slug: string, input: JobInput, reader: string) {
    const accountId = await payer();
    const request = {
      accountId,
      limits: { ...DEFAULT_LIMITS, concurrentJobs: MAX_JOBS },
      slug,
      priority: 0,
      idempotency: null,
      input,
      reader,
      waitLimitMs: READ_LIMIT_MS,
      // A restart repeats the audit with other readers, so it cancels the jobs before.
      isClientBound: true,
    };
    try {
      return await jobs.submit(request);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "insufficient_credits") throw error;
      await store.ledger.post(grantPostings(accountId, TOP_UP_MICRO), clock.now());
      return jobs.submit(request);
    }
  }

  /** Returns the account that pays for audits. The first audit of the network creates it. */
  async function payer(): Promise<string> {
    payerId ??= (await store.accounts.getByEmail(AUDITOR))?.id ?? null;
    if (payerId !== null) return payerId;
    const createdAtMs = clock.now();
    const id = newId("user", createdAtMs);
    const account = { id, email: AUDITOR, passwordHash: unknownPasswordHash(), createdAtMs };
    try {
      await store.accounts.create({ ...account, postings: grantPostings(id, TOP_UP_MICRO) });
    } catch (error) {
      // Another coordinator has created it.
      if (!(error instanceof ServiceError) || error.code !== "email_taken") throw error;
    }
    payerId = (await store.accounts.getByEmail(AUDITOR))?.id ?? null;
    if (payerId === null) throw new Error("The account that pays for audits could not be created");
    return payerId;
  }

  return {
    /**
     * Runs a job on an Island of the reader. Resolves with the result of `judge`, to which the content of the ended job
     * is available; null if no Island of the reader ran the job.
     */
    async run<T>(
      reader: string,
      slug: string,
      input: JobInput,
      limitMs: number,
      judge: (done: JobRecord) => Promise<T>,
    ): Promise<T | null> {
      const handle = await submit(slug, input, reader);
      const { id, accountId } = handle.record;
      const limit = new AbortController();
      const timer = clock.schedule(limitMs, () => limit.abort());
      try {
        // The client may delete its prompt, of which this job has a copy. After a crash, a sweep removes what is marked.
        await store.content.begin({ kind: "job", id }, clock.now());
        await openUntil(
          () => handle.openFeed(),
          ({ ending }) => ending !== null,
          AbortSignal.any([stop, limit.signal]),
        );
        if (limit.signal.aborted) await handle.cancel().catch(() => undefined);
        const done = stop.aborted ? undefined : await store.jobs.get(id);
        if (done === undefined || done.islandId === null) return null;
        // A job that moved to another coordinator may have gone to another owner.
        const island = await store.islands.get(done.islandId);
        return island?.accountId === reader ? await judge(done) : null;
      } finally {
        timer.cancel();
        // A job whose end is not durable yet is left to the sweep.
        await jobs.deleteContent(accountId, id).catch(() => undefined);
      }
    },
  };
}
