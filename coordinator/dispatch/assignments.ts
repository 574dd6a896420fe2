import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import { FILES_FEATURE, type JobFile } from "../../shared/job-files.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { fileReferencesOf } from "../catalog/file-references.ts";
import { GRANT_MS, grantAddress } from "../files/file-grants.ts";
import type { CargoSigner } from "../islands/cargo-signer.ts";
import type { AttemptId } from "../islands/island.ts";
import { featuresFor } from "../scheduler/fit.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { retryWhileUnavailable } from "../store/retry-while-unavailable.ts";
import type { AttemptTokens } from "./attempt-tokens.ts";

const LOST_FILE: JobError = {
  code: "file_unavailable",
  message: "A file in the job's input no longer exists",
  retryable: false,
};
const LACKS_FEATURES: JobError = {
  code: "runtime_unavailable",
  message: "The Island's agent is too old for a feature that the job needs",
  retryable: true,
};

interface Sending {
  readonly job: ActiveJob;
  readonly id: AttemptId;
  readonly islandId: string;
  readonly input: JobInput;
}

/** Returns a function that starts an attempt for an assignment, takes the Island's slot and sends `assign`. */
export function openAssignments(
  clock: Clock,
  store: Pick<Store, "files">,
  jobs: JobRegistry,
  islands: IslandRegistry,
  tokens: AttemptTokens,
  signer: Pick<CargoSigner, "sign">,
): (jobId: string, islandId: string) => void {
  function sendIfPresent(sending: Sending): void {
    const { job, islandId, id } = sending;
    if (isPresent(sending) && canRun(sending)) return send(sending);
    // The attempt ended, or the job moved, while the input was read. Nothing was sent, so the Island will not confirm.
    islands.freeSlot(islandId, id);
    if (isPresent(sending)) void jobs.requeue(job.id, LACKS_FEATURES, "refused");
  }

  function isPresent({ job, id }: Sending): boolean {
    return job.state === "queued" && job.attempt === id.attempt && !job.isDropped;
  }

  /**
   * Returns true if the Island has the features that the job needs, or if the input that determines them was not read
   * yet.
   */
  function canRun({ job, islandId }: Sending): boolean {
    const { traits } = job;
    const cargo = jobs.cargoOf(job);
    if (traits === null || cargo === undefined) return true;
    const island = islands.get(islandId);
    const has = island === undefined ? [] : featuresFor(cargo, island);
    return traits.features.every((name) => has.includes(name));
  }

  function send(sending: Sending): void {
    const { job, islandId, id } = sending;
    const cargo = jobs.cargoOf(job);
    if (cargo === undefined) {
      void jobs.failWithoutCargo(job.id);
      // Nothing was sent, so the Island will not confirm.
      return islands.freeSlot(islandId, id);
    }
    if (job.traits?.features.includes(FILES_FEATURE) !== true) return sendNow(sending, cargo);
    // A failure ends the process: an unsent attempt would wait for its Island forever.
    return void jobs.persist(sendWithFiles(sending, cargo));
  }

  async function sendWithFiles(sending: Sending, cargo: CatalogEntry): Promise<void> {
    const { job, islandId, id } = sending;
    const files = await grantFiles(sending, cargo);
    if (!isPresent(sending)) return islands.freeSlot(islandId, id);
    if (files !== null) return sendNow(sending, cargo, files);
    islands.freeSlot(islandId, id);
    return void jobs.fail(job.id, LOST_FILE);
  }

  /** Grants the Island the files of a job. Null if a file is gone: its account was deleted or the job has ended. */
  async function grantFiles(
    { id, islandId, input }: Sending,
    { inputSchema }: CatalogEntry,
  ): Promise<JobFile[] | null> {
    const accountId = islands.get(islandId)?.accountId;
    if (accountId === undefined) return null;
    const expiresAtMs = clock.now() + GRANT_MS;
    const files: JobFile[] = [];
    const inputJson = JSON.stringify(input);
    for (const { path, fileId, form } of fileReferencesOf(inputSchema, { input, inputJson })) {
      const file = await retryWhileUnavailable(() => store.files.held({ jobId: id.jobId, fileId }), clock);
      if (file === undefined) return null;
      const grant = { ...id, hostId: islandId, accountId, fileId, expiresAtMs };
      const address = grantAddress(grant, tokens.signFile(grant));
      files.push({ at: [...path], form, bytes: file.sizeBytes, sha256: file.sha256, address });
    }
    return files;
  }

  function sendNow({ job, islandId, input }: Sending, cargo: CatalogEntry, files?: readonly JobFile[]): void {
    const { id: jobId, attempt, feed } = job;
    return islands.send(islandId, {
      type: "assign",
      jobId,
      attempt,
      claim: tokens.issue(jobId, attempt, islandId),
      cacheKey: tokens.cacheKey(job.accountId, islandId),
      ...signer.sign(cargo),
      input,
      ...(files === undefined ? {} : { files: [...files] }),
      runLimitMs: jobs.runLimitMs(job),
      ...(feed.hasOutput ? { resume: { text: feed.text(), tokens: feed.tokens } } : {}),
    });
  }

  return (jobId, islandId) => {
    const job = jobs.get(jobId);
    const island = islands.get(islandId);
    if (job === undefined || island === undefined)
      throw new Error(`${jobId} was assigned to ${islandId}, but one of them is gone`);
    const id = { jobId, attempt: jobs.assign(jobId, { islandId, accountId: island.accountId }) };
    islands.takeSlot(islandId, id);
    const { input, feed } = job;
    if (input !== null && !feed.hasOutput) return send({ job, id, islandId, input });
    const sent = jobs.readForRun(jobId).then((read) => sendIfPresent({ job, id, islandId, input: read }));
    // A failure ends the process: a stored attempt that was not sent would wait for its Island forever.
    return void jobs.persist(sent);
  };
}
