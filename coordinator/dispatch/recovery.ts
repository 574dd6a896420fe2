import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ReturningJob } from "../jobs/job-memory.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { ActiveJobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { islandLost } from "./present-job.ts";

const READ_AT_ONCE = 1_000;

export interface RecoveryDeps {
  /** What is stored of an Island. */
  readonly readIsland: Store["islands"]["get"];
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  /** How long Islands may take to come back; absent: as after a restart. */
  readonly graceMs?: number;
}

/** An Island with the attempts that it had when the coordinator last stopped. */
interface AbsentIsland {
  readonly accountId: string;
  readonly attempts: AttemptId[];
}

/**
 * Restores all jobs that had not ended when the coordinator last stopped. Runs before the first Island or client is let in.
 * @returns how many jobs wait, and how many an Island has.
 */
export async function recoverJobs(
  store: Pick<Store, "jobs" | "islands">,
  jobs: JobRegistry,
  islands: IslandRegistry,
): Promise<{ waiting: number; held: number }> {
  const recovery = new Recovery({ readIsland: (hostId) => store.islands.get(hostId), jobs, islands });
  for await (const part of unfinished(store)) await recovery.restore(part);
  return recovery.finish();
}

/** Restores jobs from storage, in parts. Those that an Island has wait for it, for the grace; the others compete or are parked. */
export class Recovery {
  readonly #deps: RecoveryDeps;
  readonly #absent = new Map<string, AbsentIsland>();
  readonly #ofClients: string[] = [];
  readonly #givenUp: Promise<void>[] = [];
  #waiting = 0;
  #held = 0;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /** @param records Jobs that the registry does not have. May be called for several parts at once; {@link finish} must follow. */
  async restore(records: readonly ReturningJob[]): Promise<void> {
    const { jobs, graceMs } = this.#deps;
    for (const record of records) {
      const { id: jobId, attempt, islandId } = record;
      if (record.isClientBound) this.#ofClients.push(jobId);
      if (islandId === null) {
        this.#waiting += 1;
        const restored = jobs.restore(record, null);
        if (restored !== undefined) await restored;
        continue;
      }
      const island = await this.#islandOf(islandId);
      await jobs.restore(record, island?.accountId ?? null, graceMs);
      if (island === undefined) {
        // Its account was deleted, or has had 1,000 other hosts since.
        this.#waiting += 1;
        this.#givenUp.push(jobs.attempts.requeue(jobId, islandLost("The Island is not known any more"), "lost", true));
        continue;
      }
      island.attempts.push({ jobId, attempt });
      this.#held += 1;
    }
  }

  async finish(): Promise<{ waiting: number; held: number }> {
    const { jobs, islands, graceMs } = this.#deps;
    // Batches are restored from storage next: one that ends at the first failure is to find a job that has failed here. While others
    // live, one of them may have taken the job meanwhile, and then the write of this never ends.
    if (graceMs === undefined) await Promise.all(this.#givenUp);
    for (const [hostId, { accountId, attempts }] of this.#absent) {
      islands.awaitReturn(hostId, accountId, attempts, graceMs);
    }
    jobs.awaitReaders(this.#ofClients);
    return { waiting: this.#waiting, held: this.#held };
  }

  /** Undefined for one that is not known any more. */
  async #islandOf(hostId: string): Promise<AbsentIsland | undefined> {
    const record = this.#absent.has(hostId) ? undefined : await this.#deps.readIsland(hostId);
    if (record !== undefined && !this.#absent.has(hostId)) {
      this.#absent.set(hostId, { accountId: record.accountId, attempts: [] });
    }
    return this.#absent.get(hostId);
  }
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
