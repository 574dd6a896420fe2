import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { HeldJobClaims } from "../dispatch/attempt-fencing.ts";
import { Recovery } from "../dispatch/recovery.ts";
import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { BatchService } from "../jobs/batch-service.ts";
import type { ReturningJob } from "../jobs/job-memory.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Submissions } from "../jobs/submissions.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { ActiveJobRecord } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { untilRead } from "../store/until-stored.ts";
import { JobMemories } from "./job-memories.ts";
import { MOVED, type DroppedJob, type JobMover, type MovedMessage } from "./job-mover.ts";

export interface MovedJobsDeps {
  readonly cluster: ClusterStore;
  readonly store: Pick<Store, "islands">;
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly batches: Pick<BatchService, "restore">;
  readonly submissions: Pick<Submissions, "settled">;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Pick<Clock, "sleep">;
  /** How long the Islands of jobs that came here may take to come back. */
  readonly graceMs: () => number;
  readonly log: Pick<Logger, "info">;
}

/** Jobs that are read, and told of, at once. */
const PART = 500;
/** Reads of one part that are under way at once: a begun job needs two, one after the other. */
const READERS = 16;

/** Moves jobs between storage's owner and this coordinator's memory. Of several calls for one job at a time, one restores it. */
export class MovedJobs implements JobMover, HeldJobClaims {
  readonly #deps: MovedJobsDeps;
  readonly #listeners = new Set<(job: DroppedJob) => void>();
  readonly #memories: JobMemories;
  readonly #unsubscribe: Unsubscribe;
  /** Jobs that are being taken in, and the call that does. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(deps: MovedJobsDeps) {
    this.#deps = deps;
    this.#memories = new JobMemories(deps.bus, deps.cluster.selfId);
    deps.jobs.subscribe((event) => {
      if (event.type !== "job_dropped") return;
      const { job, feed, ownerId } = event;
      for (const listener of this.#listeners) listener({ id: job.id, accountId: job.accountId, feed, ownerId });
    });
    this.#unsubscribe = deps.bus.subscribe(MOVED, (message) => void this.#noteMoved(message as MovedMessage));
  }

  onDropped(listener: (job: DroppedJob) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async handOver(jobIds: readonly string[], toId: string): Promise<string[]> {
    const { cluster, jobs } = this.#deps;
    const moving = jobs.moves.begin(jobIds);
    if (moving.length === 0) return [];
    const memories = jobs.moves.memoriesOf(moving);
    let moved: ReadonlySet<string> = new Set();
    try {
      moved = new Set(await cluster.transfer(moving, toId));
    } finally {
      // After an error they compete again; if they did move, the next write says so.
      for (const id of moving) jobs.moves.end(id, moved.has(id) ? toId : null);
    }
    const gone = memories.filter(({ jobId }) => moved.has(jobId));
    if (gone.length > 0) this.#memories.tell(toId, gone);
    return [...moved];
  }

  async takeIn(jobIds: readonly string[]): Promise<number> {
    let count = 0;
    for (let from = 0; from < jobIds.length; from += PART)
      count += await this.#takePart(jobIds.slice(from, from + PART));
    return count;
  }

  async claim(hostId: string, accountId: string, attempts: readonly AttemptId[]): Promise<void> {
    await Promise.all(
      attempts.map((attempt) => this.#once([attempt.jobId], async () => this.#claimOne(hostId, accountId, attempt))),
    );
  }

  async reconcile(): Promise<void> {
    const { cluster, jobs, clock } = this.#deps;
    // What is submitted or comes here after this is not looked for.
    const here = new Map([...jobs.list()].map((job) => [job.id, job]));
    const missing: string[] = [];
    for (let after = ""; ;) {
      const part = await untilRead(() => cluster.ownedIds(after, PART), clock);
      for (const id of part) if (!here.delete(id) && jobs.get(id) === undefined) missing.push(id);
      const last = part.at(-1);
      if (last === undefined) break;
      after = last;
    }
    for (const [id, job] of here) if (jobs.get(id) === job) jobs.moves.drop(id);
    await this.takeIn(missing);
  }

  close(): void {
    this.#memories.close();
    this.#unsubscribe();
  }

  /**
   * Jobs that an Island brought to another coordinator while this one still waited for it: without the message, who asks here would be
   * answered from old memory. The database decides, as a message may be late.
   */
  async #noteMoved({ jobIds, ownerId }: MovedMessage): Promise<void> {
    const { cluster, jobs } = this.#deps;
    if (ownerId === cluster.selfId) return;
    const here = new Map(jobIds.flatMap((id) => jobs.get(id) ?? []).map((job) => [job.id, job]));
    if (here.size === 0) return;
    // Storage may be away: then a refused write or a comparison tells.
    const owners = await cluster.ownersOf([...here.keys()]).catch(() => new Map<string, string>());
    for (const [id, owner] of owners)
      if (owner !== cluster.selfId && jobs.get(id) === here.get(id)) jobs.moves.drop(id, owner);
  }

  async #takePart(jobIds: readonly string[]): Promise<number> {
    const { cluster, clock, log } = this.#deps;
    let count = 0;
    await this.#once(jobIds, async (ids) => {
      const stored = await untilRead(() => cluster.owned(ids), clock);
      const records = stored.map((record): ReturningJob => {
        const memory = this.#memories.take(record.id);
        return memory === undefined ? record : { ...record, memory };
      });
      count = records.length;
      if (count === 0) return;
      const { waiting, held } = await this.#restore(records);
      log.info({ waiting, held }, "Took over jobs");
    });
    return count;
  }

  async #restore(records: readonly ReturningJob[]): Promise<{ waiting: number; held: number }> {
    const { jobs, islands, graceMs, store, clock } = this.#deps;
    const readIsland: Store["islands"]["get"] = (hostId) => untilRead(() => store.islands.get(hostId), clock);
    const recovery = new Recovery({ readIsland, jobs, islands, graceMs: graceMs() });
    const shares = Array.from({ length: READERS }, (_, reader) =>
      records.filter((_record, index) => index % READERS === reader),
    );
    await Promise.all(shares.map((share) => recovery.restore(share)));
    const result = await recovery.finish();
    await this.#noteHere(records);
    return result;
  }

  async #claimOne(hostId: string, accountId: string, { jobId, attempt }: AttemptId): Promise<void> {
    const { cluster, jobs, islands, graceMs } = this.#deps;
    const record = await cluster.claim({ jobId, attempt, islandId: hostId });
    if (record === undefined) return;
    await jobs.bring(record, { islandId: hostId, accountId }, attempt);
    // Should the Island leave before it is welcome, the attempt has its grace.
    if (islands.get(hostId)?.isConnected === true) islands.takeSlot(hostId, { jobId, attempt });
    else islands.awaitReturn(hostId, accountId, [{ jobId, attempt }], graceMs());
    if (record.isClientBound) jobs.awaitReaders([jobId]);
    await this.#noteHere([record]);
  }

  /** The jobs are in the registry now. */
  async #noteHere(records: readonly ActiveJobRecord[]): Promise<void> {
    const { jobs, batches, bus, cluster, clock } = this.#deps;
    const message: MovedMessage = { jobIds: records.map(({ id }) => id), ownerId: cluster.selfId };
    bus.publish(MOVED, message);
    const ofBatches = records.filter(({ batchId }) => batchId !== null).flatMap(({ id }) => jobs.get(id) ?? []);
    if (ofBatches.length > 0) await untilRead(() => batches.restore(ofBatches), clock);
  }

  /** Runs `take` for those that are not here and that no other call takes in; resolves when all are. */
  async #once(jobIds: readonly string[], take: (jobIds: readonly string[]) => Promise<void>): Promise<void> {
    const { submissions } = this.#deps;
    // One that is stored may be on its way here from its own submission.
    await Promise.all(jobIds.map((id) => submissions.settled(id)));
    const others = jobIds.flatMap((id) => this.#underWay.get(id) ?? []);
    const own = jobIds.filter((id) => this.#deps.jobs.get(id) === undefined && !this.#underWay.has(id));
    const taken = own.length === 0 ? Promise.resolve() : take(own);
    for (const id of own) this.#underWay.set(id, taken);
    try {
      await taken;
    } finally {
      for (const id of own) this.#underWay.delete(id);
    }
    await Promise.allSettled(others);
  }
}
