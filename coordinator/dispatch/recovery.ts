import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { ActiveJobRecord } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { islandLost } from "./present-job.ts";

const READ_AT_ONCE = 1_000;

/** An Island with the attempts that it had when the coordinator last stopped. */
interface AbsentIsland {
  readonly accountId: string;
  readonly attempts: AttemptId[];
}

/**
 * Restores all jobs that had not ended when the coordinator last stopped. Those that an Island has wait for it, for the grace; the
 * others compete or are parked. Runs before the first Island or client is let in.
 * @returns how many jobs wait, and how many an Island has.
 */
export async function recoverJobs(
  store: Pick<Store, "jobs" | "islands">,
  jobs: JobRegistry,
  islands: IslandRegistry,
): Promise<{ waiting: number; held: number }> {
  const absent = new Map<string, AbsentIsland>();
  const ofClients: string[] = [];
  const givenUp: Promise<void>[] = [];
  let [waiting, held] = [0, 0];
  for await (const part of unfinished(store)) {
    for (const record of part) {
      const { id: jobId, attempt, islandId } = record;
      if (record.isClientBound) ofClients.push(jobId);
      if (islandId === null) {
        waiting += 1;
        const restored = jobs.restore(record, null);
        if (restored !== undefined) await restored;
        continue;
      }
      const island = absent.get(islandId) ?? (await readIsland(store, islandId));
      await jobs.restore(record, island?.accountId ?? null);
      if (island === undefined) {
        // Its account was deleted, or has had 1,000 other hosts since.
        waiting += 1;
        givenUp.push(jobs.attempts.requeue(jobId, islandLost("The Island is not known any more"), "lost", true));
        continue;
      }
      absent.set(islandId, island);
      island.attempts.push({ jobId, attempt });
      held += 1;
    }
  }
  // Batches are restored from storage next: one that ends at the first failure is to find a job that has failed here.
  await Promise.all(givenUp);
  for (const [hostId, { accountId, attempts }] of absent) islands.awaitReturn(hostId, accountId, attempts);
  jobs.awaitReaders(ofClients);
  return { waiting, held };
}

/** Read in parts: 100,000 records at once would be copied again and again by the garbage collector. */
async function* unfinished({ jobs }: Pick<Store, "jobs">): AsyncIterable<readonly ActiveJobRecord[]> {
  for (let after: ActiveJobRecord | null = null; ;) {
    const part: ActiveJobRecord[] = await jobs.unfinished({ after, limit: READ_AT_ONCE });
    yield part;
    const last = part.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

async function readIsland(store: Pick<Store, "islands">, hostId: string): Promise<AbsentIsland | undefined> {
  const record = await store.islands.get(hostId);
  return record === undefined ? undefined : { accountId: record.accountId, attempts: [] };
}
