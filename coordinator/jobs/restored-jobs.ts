import type { ActiveJobRecord, JobInput } from "../store/jobs/job-store.ts";
import type { Assignee } from "./active-job.ts";
import type { ActiveJobs, ActiveJobsDeps } from "./active-jobs.ts";
import type { Backlog } from "./feed.ts";
import type { JobAttempts } from "./attempts/job-attempts.ts";
import type { ReturningJob } from "./job-memory.ts";
import { MutableJob } from "./mutable-job.ts";

export interface RestoredJobsDeps extends Pick<ActiveJobsDeps, "store" | "catalog" | "clock"> {
  /** How long the jobs of an Island wait for it after a restart of the coordinator. */
  readonly restartGraceMs: number;
}

/** Time to send what it kept, for an Island that comes back at the end of its grace. */
const REPORT_MARGIN_MS = 5_000;

/** Takes in jobs from storage: after a restart, and those that another coordinator had. */
export class RestoredJobs {
  readonly #active: ActiveJobs;
  readonly #attempts: JobAttempts;
  readonly #deps: RestoredJobsDeps;

  constructor(active: ActiveJobs, attempts: JobAttempts, deps: RestoredJobsDeps) {
    this.#active = active;
    this.#attempts = attempts;
    this.#deps = deps;
  }

  /** See `JobRegistry.restore`. */
  restore(
    record: ReturningJob,
    islandOwnerId: string | null,
    graceMs: number = this.#deps.restartGraceMs,
  ): Promise<void> | undefined {
    if (record.attempt > 0) return this.#restoreBegun(record, islandOwnerId, graceMs);
    // It has no feed. Without a promise, because 100,000 may wait.
    this.#compete(this.#add(record, null, null), record.hasPlace === true);
    return undefined;
  }

  /** See `JobRegistry.bring`. */
  async bring(
    record: ReturningJob,
    assignee: Assignee,
    { attempt, graceMs }: { readonly attempt: number; readonly graceMs: number },
  ): Promise<void> {
    if (record.islandId !== null) return this.#restoreBegun(record, assignee.accountId, graceMs);
    const { input, backlog } = await this.#read(record);
    const job = this.#add(record, input, backlog);
    this.#active.takePlace(job);
    this.#active.beginWait(job, this.#earliestMs(graceMs));
    // The coordinator that gave it out died before that was durable.
    if (attempt > job.attempt) this.#attempts.takeOver(job.id, assignee, attempt);
    else this.#attempts.regain(job.id, assignee);
    return undefined;
  }

  async #restoreBegun(record: ReturningJob, islandOwnerId: string | null, graceMs: number): Promise<void> {
    const { input, backlog } = await this.#read(record);
    const job = this.#add(record, input, backlog);
    if (record.islandId === null) return this.#compete(job);
    // Without a look at the limit, which may be lower now than when the job was accepted.
    this.#active.takePlace(job);
    if (islandOwnerId === null) return undefined;
    job.assignee = { islandId: record.islandId, accountId: islandOwnerId };
    job.noteEarner();
    this.#active.noteSign(job);
    // The Island may have the result, even after the limit: it gets the grace to bring it.
    const earliestMs = this.#earliestMs(graceMs);
    if (job.state === "running") return this.#active.beginRun(job, earliestMs);
    return this.#active.beginWait(job, earliestMs);
  }

  /** The feed is read when somebody asks for it. */
  async #read({ id, attempt }: ActiveJobRecord): Promise<{ readonly input: JobInput; readonly backlog: Backlog }> {
    const { jobs } = this.#deps.store;
    const progress = await jobs.feedProgress(id, attempt);
    const input = await jobs.input(id);
    return { input, backlog: { progress, read: () => jobs.feed(id) } };
  }

  #add(record: ReturningJob, input: JobInput | null, backlog: Backlog | null): MutableJob {
    const job = this.#active.add(new MutableJob(record, backlog));
    job.lastSeq = backlog?.progress.lastSeq ?? 0;
    job.durableSeq = job.lastSeq;
    if (record.memory !== undefined) job.remember(record.memory);
    // Undefined if the account may not run it now: its definition or approval may have changed.
    job.cargo = this.#deps.catalog.find(record.slug, record.accountId) ?? null;
    if (input !== null) this.#active.learnTraits(job, input);
    return job;
  }

  /** A job of a batch that never had an attempt is parked, unless the store knows that it has a place. */
  #compete(job: MutableJob, hasPlace = false): void {
    if (job.batchId !== null && job.attempt === 0 && !hasPlace) return;
    this.#active.takePlace(job);
    this.#active.beginCompeting(job);
  }

  #earliestMs(graceMs: number): number {
    return this.#deps.clock.now() + graceMs + REPORT_MARGIN_MS;
  }
}
