import { Island } from "../islands/island.ts";
import type { IslandDesk } from "../islands/island-desk.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import type { LiveJobRecord } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { Feed } from "./feed.ts";
import { LiveJob, traitsOf } from "./live-job.ts";

/**
 * Takes in all jobs that had not ended when the coordinator last stopped. Those in an Island's hands wait for the grace; the
 * others are scheduled. Run before the first Island or client is let in.
 */
export async function recoverJobs(
  store: Store,
  catalog: Catalog,
  dispatcher: Dispatcher,
  desk: IslandDesk,
  jobQuota: JobQuota,
): Promise<{ waiting: number; held: number }> {
  const records = await store.jobs.unfinished();
  let held = 0;
  for (const record of records) {
    const job = record.attempt === 0 ? freshJob(record) : await begunJob(store, catalog, record);
    // Not what the account may not run: the definition may have changed, and its approval gone, since the job was accepted.
    job.cargo = catalog.find(record.slug, record.accountId) ?? null;
    if (job.batchId !== null && job.attempt === 0) {
      // It may have been admitted before; the gate tells whether there is room now.
      dispatcher.hold(job);
      continue;
    }
    // Accepted before, so counted without asking: the account may be over a limit that was lowered meanwhile.
    jobQuota.add(job.accountId);
    job.hasPlace = true;
    if (job.islandId === null) {
      dispatcher.admit(job);
      continue;
    }
    held += 1;
    dispatcher.adopt(job);
    const island = dispatcher.islands.get(job.islandId) ?? (await absentIsland(store, job.islandId));
    dispatcher.islands.set(island.hostId, island);
    island.holding.set(job.id, job.attempt);
  }
  for (const island of dispatcher.islands.values()) desk.awaitReturn(island);
  return { waiting: records.length - held, held };
}

function freshJob(record: LiveJobRecord): LiveJob {
  const job = new LiveJob(record);
  job.announce("pending");
  return job;
}

/** A job with attempts behind it: what was delivered of it is needed to go on. */
async function begunJob(store: Store, catalog: Catalog, record: LiveJobRecord): Promise<LiveJob> {
  const { parts, lastSeq } = await store.jobs.feed(record.id, record.attempt);
  const job = new LiveJob(record, new Feed(record.id, parts));
  job.lastSeq = lastSeq;
  job.durableSeq = lastSeq;
  job.traits = traitsOf(await store.jobs.input(record.id), catalog.known(record.slug)?.isChat ?? false);
  if (parts.length === 0) job.announce("pending");
  return job;
}

async function absentIsland(store: Store, hostId: string): Promise<Island> {
  const record = await store.islands.get(hostId);
  if (record === undefined) throw new Error(`Island ${hostId} holds a job but is not stored`);
  return new Island(hostId, record.accountId);
}
