import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import { FILES_FEATURE, type JobFile } from "../../shared/job-files.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { CargoSigner } from "../islands/cargo-signer.ts";
import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { grantFiles } from "./grant-files.ts";
import type { AttemptProofs } from "./attempt-proofs.ts";

export interface AssignmentsDeps {
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly proofs: AttemptProofs;
  readonly signer: Pick<CargoSigner, "sign">;
  /** Files that jobs name. */
  readonly store: Pick<Store, "files">;
  readonly clock: Pick<Clock, "now" | "sleep">;
}

const LOST_FILE: JobError = {
  code: "file_unavailable",
  message: "A file that the job's input names does not exist any more",
  retryable: false,
};
const LACKS_FEATURES: JobError = {
  code: "runtime_unavailable",
  message: "The Island's agent is too old for what the job asks for",
  retryable: true,
};

/** Carries out what the scheduler decides: the job gets an attempt, the Island's slot is taken, and `assign` is sent. */
export class Assignments {
  readonly #deps: AssignmentsDeps;

  constructor(deps: AssignmentsDeps) {
    this.#deps = deps;
  }

  assign(jobId: string, islandId: string): void {
    const { jobs, islands } = this.#deps;
    const job = jobs.get(jobId);
    const island = islands.get(islandId);
    if (job === undefined || island === undefined) throw new Error(`${jobId} was assigned to ${islandId}: one is gone`);
    const attempt = jobs.attempts.assign(jobId, { islandId, accountId: island.accountId });
    islands.takeSlot(islandId, { jobId, attempt });
    const { input, stored } = job;
    if (input !== null && stored !== null) {
      void stored.then(() => this.#sendIfPresent(job, islandId, { jobId, attempt }, input));
      return;
    }
    if (input !== null) return this.#send(job, islandId, input);
    const sent = jobs.attempts
      .readForRun(jobId)
      .then((input) => this.#sendIfPresent(job, islandId, { jobId, attempt }, input));
    // An attempt that is stored and was not sent would wait for its Island for good.
    void jobs.persist(sent);
  }

  #sendIfPresent(job: ActiveJob, islandId: string, id: AttemptId, input: JobInput): void {
    if (this.#isPresent(job, id) && this.#canRun(job, islandId)) return this.#send(job, islandId, input);
    // The attempt ended, or another coordinator took the job, while the input was read. The Island never saw it, so it will not confirm: the slot is freed here.
    this.#deps.islands.freeSlot(islandId, id);
    if (this.#isPresent(job, id)) void this.#deps.jobs.attempts.requeue(job.id, LACKS_FEATURES, "refused");
  }

  #isPresent(job: ActiveJob, { attempt }: AttemptId): boolean {
    return job.state === "queued" && job.attempt === attempt && !job.isDropped;
  }

  /** What a job needs was not known when it came back from storage: its input is read for the Island that it was given to first. */
  #canRun({ traits }: ActiveJob, islandId: string): boolean {
    const has = this.#deps.islands.get(islandId)?.features ?? [];
    return traits === null || traits.features.every((name) => has.includes(name));
  }

  #send(job: ActiveJob, islandId: string, input: JobInput): void {
    const { jobs, islands } = this.#deps;
    const id = { jobId: job.id, attempt: job.attempt };
    const cargo = jobs.cargoOf(job);
    if (cargo === undefined) {
      void jobs.attempts.failWithoutCargo(job.id);
      // Nothing was sent, so the Island will not confirm.
      return islands.freeSlot(islandId, id);
    }
    if (job.traits?.features.includes(FILES_FEATURE) !== true) return this.#sendNow(job, islandId, cargo, input);
    const sent = this.#sendWithFiles(job, islandId, cargo, input, id);
    // As above: it would wait for its Island for good.
    return void jobs.persist(sent);
  }

  /** Looks the files of the job up first. */
  async #sendWithFiles(
    job: ActiveJob,
    islandId: string,
    cargo: CatalogEntry,
    input: JobInput,
    id: AttemptId,
  ): Promise<void> {
    const { islands, jobs } = this.#deps;
    const accountId = islands.get(islandId)?.accountId;
    const files =
      accountId === undefined
        ? null
        : await grantFiles(this.#deps, { ...id, hostId: islandId, accountId, cargo, input });
    const isPresent = this.#isPresent(job, id);
    if (isPresent && files !== null) return this.#sendNow(job, islandId, cargo, input, files);
    islands.freeSlot(islandId, id);
    if (isPresent) void jobs.attempts.fail(job.id, LOST_FILE);
    return undefined;
  }

  #sendNow(job: ActiveJob, islandId: string, cargo: CatalogEntry, input: JobInput, files?: readonly JobFile[]): void {
    const { jobs, islands, proofs, signer } = this.#deps;
    const { id: jobId, attempt, feed } = job;
    return islands.send(islandId, {
      type: "assign",
      jobId,
      attempt,
      claim: proofs.issue(jobId, attempt, islandId),
      cacheKey: proofs.cacheKey(job.accountId, islandId),
      ...signer.sign(cargo),
      input,
      ...(files === undefined ? {} : { files: [...files] }),
      runLimitMs: jobs.runLimitMs(job),
      ...(feed.hasOutput ? { resume: { text: feed.text(), tokens: feed.tokens } } : {}),
    });
  }
}
