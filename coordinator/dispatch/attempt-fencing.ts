import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { HeldJob, NumberedFrame, FromIsland } from "../../shared/protocol/from-island.ts";
import { type JobError, type JobErrorCode, MAY_QUOTE } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { ChecksClosed } from "../checks/check-thread.ts";
import type { Checks } from "../checks/checks.ts";
import type { Env } from "../env.ts";
import type { AttemptReports } from "../islands/island-connections.ts";
import type { AttemptId, IslandView } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Feed } from "../jobs/feed.ts";
import type { RunResult } from "../jobs/job-ending.ts";
import { type AssistantMessage, assistantMessageOf } from "../jobs/tool-calls.ts";
import type { AttemptTokens } from "./attempt-tokens.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { errorOf, islandLost, schemaUnmet } from "./island-errors.ts";
import { isRequested, mayBeRequestedEmpty, type ResultFault, type ResultVerdict, verdictOf } from "./result-faults.ts";

/**
 * Turns the reports of Islands on their attempts into commands on jobs. Fencing: only reports on the current attempt,
 * by the Island that has the job, count. Other reports only free the slot, and are acknowledged so that the Island can
 * drop them.
 * @param claim Transfers jobs of other coordinators to this one, for an Island with valid tokens of the attempts.
 */
export function openAttemptFencing(
  { clock, log }: Pick<Env, "clock" | "log">,
  jobs: JobRegistry,
  islands: IslandRegistry,
  tokens: AttemptTokens,
  dispatcher: Dispatcher,
  checks: Pick<Checks, "answer" | "output">,
  claim: (hostId: string, accountId: string, attempts: readonly AttemptId[]) => Promise<void>,
): AttemptReports {
  const results = openAttemptResults(log, jobs, islands, dispatcher);
  /** Attempts whose result is being checked, by job. */
  const checking = new Map<string, number>();
  /** Frames of attempts that are not durable, by `ActiveJob.assigned`. */
  const waiting = new WeakMap<Promise<void>, { frames: NumberedFrame[]; applied: Promise<void | false> }>();

  /**
   * Handles a numbered frame. Resolves when the frame may be acknowledged, or with false if the Island must resend it.
   * Returns undefined for a repeated frame whose first copy is not durable yet.
   */
  function receiveNumbered(islandId: string, frame: NumberedFrame): Promise<void | false> | undefined {
    const { jobId, seq } = frame;
    const job = jobs.present(islandId, frame);
    if (job === undefined) return discard(islandId, frame);
    if (seq <= job.lastSeq) return seq <= job.durableSeq ? Promise.resolve() : undefined;
    if (seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${seq} after ${job.lastSeq}`);
    // Otherwise output could be added to a result that was checked without it.
    if (checking.get(jobId) === frame.attempt) throw new ProtocolError(`${frame.type}: after finished`);
    jobs.noteReceived(jobId, seq);
    const isRunning = frame.type === "output" || frame.type === "finished";
    if (isRunning && job.state === "queued") jobs.start(jobId);
    return applyWhenAssigned(islandId, job, frame);
  }

  /**
   * Applies a frame once its attempt is durable. Otherwise a crash could give the number of the attempt to another one,
   * and readers could not tell their outputs apart. See docs/internals/streams.md, "Positions". A job that is being
   * stored has no readers, so that the frames of its first attempt are applied at once.
   */
  function applyWhenAssigned(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    if (job.assigned !== null) return applyOnceAssigned(job.assigned, islandId, job, frame);
    const durable = apply(islandId, job, frame);
    // Output that is stored together, also with the end, shares one promise and one acknowledgement. Its write records
    // the last frame.
    if (frame.type === "output" || job.hasEnded) return durable;
    return durable.then((isApplied) => {
      if (isApplied !== false) jobs.noteDurable(frame.jobId, frame.attempt, frame.seq);
      return isApplied;
    });
  }

  /** Applies all frames that wait for the same attempt together. They share one promise and one acknowledgement. */
  function applyOnceAssigned(
    assigned: Promise<void>,
    islandId: string,
    job: ActiveJob,
    frame: NumberedFrame,
  ): Promise<void | false> {
    const earlier = waiting.get(assigned);
    if (earlier !== undefined) {
      earlier.frames.push(frame);
      return earlier.applied;
    }
    const frames = [frame];
    const applied = assigned.then(async () => {
      const results = await Promise.all(frames.map((each) => applyIfPresent(islandId, job, each)));
      return results.includes(false) ? false : undefined;
    });
    waiting.set(assigned, { frames, applied });
    return applied;
  }

  /** Applies a frame that has waited, if the attempt is still the current one and its result has not arrived. */
  function applyIfPresent(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    const isChecking = checking.get(job.id) === frame.attempt;
    if (!isChecking && jobs.present(islandId, frame) === job) return applyWhenAssigned(islandId, job, frame);
    jobs.noteUnapplied(frame.jobId, frame.attempt, frame.seq);
    return discard(islandId, frame);
  }

  /**
   * Discards a frame of a superseded attempt or an ended job. Resolves when the end of the attempt is durable, so that
   * the Island may drop the frame, or with false if the Island must resend it.
   */
  function discard(islandId: string, frame: NumberedFrame): Promise<void | false> {
    if (frame.type !== "output") islands.freeSlot(islandId, frame);
    const job = jobs.get(frame.jobId);
    const isStored = job?.settled ?? job?.moved ?? Promise.resolve();
    // An Island that has regained the attempt sends the frame again, and that copy is applied.
    return isStored.then(() => (jobs.present(islandId, frame) === undefined ? undefined : false));
  }

  function apply(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    switch (frame.type) {
      case "output":
        return results.addOutput(islandId, job, frame);
      case "finished":
        return job.feed.isLoaded
          ? finish(islandId, job, frame)
          : jobs.loadFeed(job.id).then(() => applyIfPresent(islandId, job, frame));
      case "failed":
        return results.fail(islandId, job, frame);
      case "cancelled":
        return results.stopByOwner(islandId, job, frame);
      default:
        return frame satisfies never;
    }
  }

  /** Checks a result and ends the attempt. Holds the frame while an expensive check runs in a thread. */
  function finish(islandId: string, job: ActiveJob, frame: FrameOf<"finished">): Promise<void | false> {
    const verdict = verdictOf(checks, job, jobs.cargoOf(job), frame);
    if (!(verdict instanceof Promise)) return results.finish(islandId, job, frame, verdict);
    const { jobId, attempt, seq } = frame;
    checking.set(jobId, attempt);
    jobs.noteResultCheck(jobId, true);
    return verdict
      .finally(() => {
        if (checking.get(jobId) !== attempt) return;
        checking.delete(jobId);
        jobs.noteResultCheck(jobId, false);
      })
      .then(
        (found) => {
          // The job may have been cancelled, have expired or have lost its Island.
          if (jobs.present(islandId, frame) === job) return results.finish(islandId, job, frame, found);
          jobs.noteUnapplied(jobId, attempt, seq);
          return discard(islandId, frame);
        },
        (error: unknown) => {
          // The Island sends the frame again to the coordinator that restores the job.
          if (error instanceof ChecksClosed) return false as const;
          log.error({ err: error, job_id: jobId }, "Could not check a result");
          return jobs.present(islandId, frame) === job
            ? results.finish(islandId, job, frame, { fault: null, unmet: null })
            : discard(islandId, frame);
        },
      );
  }

  /** Decides whether a returning Island continues an attempt that it holds, and restores the attempt if it does. */
  function decide({ hostId, accountId }: IslandView, { jobId, attempt, claim, started }: HeldJob): HeldDecision {
    const drop: HeldDecision = { jobId, attempt, action: "drop" };
    const job = jobs.get(jobId);
    if (job === undefined || job.hasEnded || !tokens.isValid(claim, jobId, attempt, hostId)) return drop;
    // The job was assigned just before the coordinator stopped, and the assignment was not durable yet.
    if (job.state === "pending" && attempt > job.attempt) {
      jobs.claimAttempt(jobId, { islandId: hostId, accountId }, attempt);
    }
    // The Island was away for longer than the grace period, but no other attempt has started since. Another Island may
    // have a token of the same attempt if the assignment to that Island never became durable.
    const isLastIsland = (job.lostIslandId ?? hostId) === hostId;
    if (job.mayRegain && isLastIsland && attempt === job.attempt) jobs.regain(jobId, { islandId: hostId, accountId });
    if (jobs.present(hostId, { jobId, attempt }) === undefined) return drop;
    if (started && job.state === "queued") jobs.start(jobId);
    jobs.noteReturn(jobId);
    // The Island resends frames that were received but are not durable; `lastSeq` detects the repeats.
    return { jobId, attempt, action: "continue", ackedSeq: job.durableSeq };
  }

  return {
    claim(hostId, accountId, held) {
      const elsewhere = held.filter(
        ({ jobId, attempt, claim: token }) =>
          jobs.get(jobId) === undefined && tokens.isValid(token, jobId, attempt, hostId),
      );
      return elsewhere.length === 0 ? undefined : claim(hostId, accountId, elsewhere);
    },
    reconcile: (island, held) => held.map((job) => decide(island, job)),
    noteProgress(island, { working, downloads }) {
      if (working !== undefined) {
        for (const { jobId, attempt, count } of working) {
          if (jobs.present(island.hostId, { jobId, attempt }) !== undefined) jobs.noteWork(jobId, count);
        }
        return;
      }
      // An older agent reports only downloads. A download of unknown size always counts as progress.
      for (const attempt of island.attempts()) {
        const job = jobs.present(island.hostId, attempt);
        const download = downloads.find(({ slug }) => slug === job?.slug);
        if (job?.phase !== "start" || download === undefined) continue;
        jobs.noteWork(job.id, download.fraction ?? clock.now());
      }
    },
    receive(islandId, frame) {
      switch (frame.type) {
        case "refused":
          return results.refuse(islandId, jobs.present(islandId, frame), frame);
        case "accepted":
          if (jobs.present(islandId, frame) !== undefined) jobs.accept(frame.jobId);
          return undefined;
        case "started": {
          const job = jobs.present(islandId, frame);
          if (job?.state === "queued") jobs.start(frame.jobId);
          if (job !== undefined && frame.prompt !== undefined) jobs.notePrompt(frame.jobId, frame.prompt);
          return undefined;
        }
        case "output":
        case "finished":
        case "failed":
        case "cancelled":
          return receiveNumbered(islandId, frame);
        default:
          return frame satisfies never;
      }
    },
  };
}

type FrameOf<T extends FromIsland["type"]> = Extract<FromIsland, { type: T }>;
type Failure = Omit<JobError, "message"> & { readonly message?: string };
/** Maximum characters of an Island's message in the log. */
const MAX_LOGGED_CHARS = 300;

/** Handles the output and the end of an attempt. The caller has checked that the Island has the attempt. */
function openAttemptResults(
  log: Pick<Logger, "warn">,
  jobs: JobRegistry,
  islands: IslandRegistry,
  { recordRun, recordFailure, hasOtherIsland }: Dispatcher,
) {
  /** Rejects a result with a fault, or calls `complete` for an empty result that no other Island can improve. */
  function reject(
    islandId: string,
    job: ActiveJob,
    frame: FrameOf<"finished">,
    fault: ResultFault,
    complete: () => Promise<void>,
  ): Promise<void> {
    // The Island is not blamed for an empty result that the request may have caused. Otherwise a client could keep jobs
    // of other accounts from the Island. The Island has failed only if another Island produces a result.
    const isBlank = job.feed.outputAttempt === job.attempt && job.feed.text() !== "";
    const isRequestedEmpty = fault === "empty" && (isBlank || mayBeRequestedEmpty(job.traits, frame));
    const error = failed(islandId, job, { ...frame, code: "invalid_output", retryable: !isRequestedEmpty });
    if (fault === "contradicted" || fault === "malformed") {
      // Streamed output of an Island that contradicts itself cannot be withdrawn, so no Island may continue it.
      const isStreamed = job.feed.outputAttempt === job.attempt;
      return isStreamed ? jobs.fail(job.id, error) : jobs.requeue(job.id, error, "failed");
    }
    if (!isFinal(islandId, job, error)) return jobs.confirm(job.id, error);
    // If no other Island confirmed the empty result, the output of an earlier attempt may be incomplete.
    const mayBeCut = job.feed.hasOutput && !isConfirmed(islandId, job, error) && hasOtherIsland(job);
    return fault === "schema_mismatch" || mayBeCut ? jobs.fail(job.id, error) : complete();
  }

  /** Counts a run whose output exceeds a limit. Only output above the job's maximum is a failure of the Island. */
  function noteOverrun(islandId: string, job: ActiveJob): void {
    recordRun(islandId, job, null);
    if (job.isOverrun) recordFailure(islandId, job, "failed", "output_too_large");
  }

  /** Counts a failure of another Island that reported the job as impossible, after this Island has completed it. */
  function noteRefuted(islandId: string, job: ActiveJob): void {
    const { final } = job;
    // Other failures were counted when they were reported.
    if (final === null || final.islandId === islandId || final.error.retryable) return;
    recordFailure(final.islandId, job, "failed", final.error.code);
  }

  /** Counts a failed attempt and frees its slot. Returns the error that the job gets if this failure ends it. */
  function failed(
    islandId: string,
    job: ActiveJob,
    failure: Failure & Pick<NumberedFrame, "jobId" | "attempt">,
  ): JobError {
    recordRun(islandId, job, null);
    if (failure.retryable) recordFailure(islandId, job, "failed", failure.code);
    // Free the slot first, so that another waiting job may take it: the failed job waits for another Island.
    islands.freeSlot(islandId, failure);
    note(islandId, job, failure.code, failure.message);
    return errorOf(failure, job, islands.get(islandId));
  }

  function note(islandId: string, job: ActiveJob, code: JobErrorCode, text: string | undefined): void {
    const ids = { job_id: job.id, account_id: job.accountId, island_id: islandId };
    const facts = { ...ids, cargo: job.slug, attempt: job.attempt, code };
    const logFields = text === undefined || MAY_QUOTE.has(code) ? {} : { island_says: text.slice(0, MAX_LOGGED_CHARS) };
    log.warn({ ...facts, ...logFields }, "An Island failed a job");
  }

  /** Returns true if the error ends the job: another Island confirmed it, or no other Island may attempt the job. */
  function isFinal(islandId: string, job: ActiveJob, error: JobError): boolean {
    return isConfirmed(islandId, job, error) || !jobs.mayRetry(job.id) || !hasOtherIsland(job);
  }

  return {
    /**
     * Handles a refusal of an attempt.
     * @param job Undefined if the attempt is over.
     */
    refuse(islandId: string, job: ActiveJob | undefined, frame: FrameOf<"refused">): Promise<void> | undefined {
      // The refusal is late: the Island had started, so this is a failed attempt.
      const cause = job?.state === "running" ? "failed" : "refused";
      const code = frame.exactCode ?? frame.code;
      if (job !== undefined) recordFailure(islandId, job, cause, code);
      islands.freeSlot(islandId, frame);
      if (job === undefined) return undefined;
      note(islandId, job, code, frame.message);
      const error = errorOf({ ...frame, code, retryable: true }, job, islands.get(islandId));
      return jobs.requeue(job.id, error, cause);
    },
    fail(islandId: string, job: ActiveJob, frame: FrameOf<"failed">): Promise<void> {
      const error = failed(islandId, job, { ...frame, code: frame.exactCode ?? frame.code });
      if (error.retryable) return jobs.requeue(job.id, error, "failed");
      return isFinal(islandId, job, error) ? jobs.fail(job.id, error) : jobs.confirm(job.id, error);
    },
    /** Handles work that the Island's owner stopped. The coordinator did not cancel it, as the job has not ended. */
    stopByOwner(islandId: string, job: ActiveJob, frame: FrameOf<"cancelled">): Promise<void> {
      recordFailure(islandId, job, "lost", "island_lost");
      islands.freeSlot(islandId, frame);
      return jobs.requeue(job.id, islandLost("The Island's owner stopped the job"), "lost");
    },
    addOutput(islandId: string, job: ActiveJob, frame: FrameOf<"output">): Promise<void> {
      const isChat = jobs.cargoOf(job)?.isChat === true;
      if (frame.items.some((item) => (item.type === "image" && isChat) || !isRequested(item, job.traits))) {
        const error = failed(islandId, job, { ...frame, code: "invalid_output", retryable: true });
        return jobs.requeue(job.id, error, "failed");
      }
      const stored = jobs.addOutput(job.id, frame.seq, frame.items);
      if (job.hasEnded) noteOverrun(islandId, job);
      return stored;
    },
    /** Completes the job, or fails the Island for a result with a {@link ResultFault}. */
    finish(
      islandId: string,
      job: ActiveJob,
      frame: FrameOf<"finished">,
      { fault, unmet }: ResultVerdict,
    ): Promise<void> {
      const cargo = jobs.cargoOf(job);
      const { output, usage, finishReason, timings, stopSequence } = frame;
      // Streamed text is the output, regardless of what the result contains.
      const isGenerated = cargo?.isChat === true && job.traits?.isReading !== true;
      const isStreamed = isGenerated || (typeof output === "string" && job.feed.hasText);
      const result: RunResult = {
        output: isStreamed ? callsMessage(job.feed) : output,
        usage,
        finishReason,
        timings,
        ...(stopSequence !== undefined && { stopSequence }),
      };
      if (fault !== null) return reject(islandId, job, frame, fault, () => jobs.complete(job.id, result));
      const ended = unmet === null ? jobs.complete(job.id, result) : jobs.fail(job.id, schemaUnmet(unmet));
      if (job.state === "failed" && unmet === null) {
        noteOverrun(islandId, job);
      } else {
        recordRun(islandId, job, usage);
        noteRefuted(islandId, job);
      }
      islands.freeSlot(islandId, frame);
      return ended;
    },
  };
}

/** Returns the message if it has tool calls. Undefined for plain text, which is in the feed. */
function callsMessage(feed: Feed): AssistantMessage | undefined {
  const message = assistantMessageOf(feed);
  return message.tool_calls === undefined ? undefined : message;
}

/** Returns true if another Island reported the same error. */
function isConfirmed(islandId: string, { final }: ActiveJob, { code }: JobError): boolean {
  return final !== null && final.islandId !== islandId && final.error.code === code;
}
