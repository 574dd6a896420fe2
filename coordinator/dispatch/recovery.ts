import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ReturningJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { ActiveJobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { islandLost } from "./island-errors.ts";

const PAGE_SIZE = 1_000;

/** An Island with the attempts that it had when the coordinator last stopped. */
interface AbsentIsland {
  readonly accountId: string;
  readonly attempts: AttemptId[];
}

/** Restores all unfinished jobs before Islands and clients can connect. Counts jobs that wait and that Islands hold. */
export async function recoverJobs(
  store: Pick<Store, "jobs" | "islands">,
  jobs: JobRegistry,
  islands: IslandRegistry,
): Promise<{ waiting: number; held: number }> {
  const recovery = beginRecovery((hostId) => store.islands.get(hostId), jobs, islands);
  for await (const part of unfinished(store)) await recovery.restore(part);
  return recovery.finish();
}

/**
 * Restores jobs from storage in parts. Jobs that an Island holds wait for the Island; other jobs compete or are parked.
 * @param graceMs Time for Islands to return; if absent, the grace period after a restart.
 */
export function beginRecovery(
  readIsland: Store["islands"]["get"],
  jobs: JobRegistry,
  islands: IslandRegistry,
  graceMs?: number,
) {
  const absent = new Map<string, AbsentIsland>();
  const clientBoundIds: string[] = [];
  const requeued: Promise<void>[] = [];
  let waiting = 0;
  let held = 0;

  async function islandOf(hostId: string): Promise<AbsentIsland | undefined> {
    const record = absent.has(hostId) ? undefined : await readIsland(hostId);
    if (record !== undefined && !absent.has(hostId)) absent.set(hostId, { accountId: record.accountId, attempts: [] });
    return absent.get(hostId);
  }

  return {
    /** Restores jobs that the registry does not have. May be called concurrently; `finish` must follow. */
    async restore(records: readonly ReturningJob[]): Promise<void> {
      for (const record of records) {
        const { id: jobId, attempt, islandId } = record;
        if (record.isClientBound) clientBoundIds.push(jobId);
        if (islandId === null) {
          waiting += 1;
          const restored = jobs.restore(record, null);
          if (restored !== undefined) await restored;
          continue;
        }
        const island = await islandOf(islandId);
        await jobs.restore(record, island?.accountId ?? null, graceMs);
        if (island === undefined) {
          // The account was deleted, or has connected 1,000 other hosts since.
          waiting += 1;
          requeued.push(jobs.requeue(jobId, islandLost("The Island is no longer registered"), "lost", true));
          continue;
        }
        island.attempts.push({ jobId, attempt });
        held += 1;
      }
    },
    async finish(): Promise<{ waiting: number; held: number }> {
      // Batches are restored next, and must find the jobs that failed here. In a cluster another member may have taken
      // the job, and then this write never ends.
      if (graceMs === undefined) await Promise.all(requeued);
      for (const [hostId, { accountId, attempts }] of absent) islands.awaitReturn(hostId, accountId, attempts, graceMs);
      jobs.awaitReaders(clientBoundIds);
      return { waiting, held };
    },
  };
}

/** Reads unfinished jobs in parts: the garbage collector would copy one array of 100,000 records repeatedly. */
async function* unfinished({ jobs }: Pick<Store, "jobs">): AsyncIterable<readonly ActiveJobRecord[]> {
  for (let after: ActiveJobRecord | null = null; ;) {
    const part: ActiveJobRecord[] = await jobs.unfinished({ after, limit: PAGE_SIZE });
    yield part;
    const last = part.at(-1);
    if (last === undefined) return;
    after = last;
  }
}
