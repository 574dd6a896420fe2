import type { Clock } from "../../shared/clock.ts";
import { ClusterUnavailableError } from "../../shared/errors.ts";
import type { JobState } from "../../shared/job-state.ts";
import { BusError, type Bus, type Unsubscribe } from "../bus/bus.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobRouter, LiveFacts, RemoteJob } from "../jobs/job-router.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { NotOwnerError, type ClusterStore } from "../store/cluster-store.ts";
import type { JobStore } from "../store/job-store.ts";
import type { FollowedFeeds } from "./followed-feeds.ts";

export interface RemoteJobsDeps {
  readonly selfId: string;
  readonly bus: Bus;
  readonly cluster: Pick<ClusterStore, "ownerOf">;
  readonly store: Pick<JobStore, "get">;
  readonly jobs: Pick<JobRegistry, "get" | "cancel" | "settled">;
  readonly feeds: Pick<FollowedFeeds, "open">;
  readonly explainWait: (job: ActiveJob) => JobWaiting | null;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
}

/** Request `<owner>.job`. */
interface JobQuestion {
  readonly ask: "describe" | "cancel";
  readonly jobId: string;
}

/** `gone`: the coordinator does not have the job. `ended`: it had ended before, which is durable. `cancelled`: it has now. */
export type JobAnswer =
  | { readonly is: "gone" | "ended" }
  | { readonly is: "described"; readonly facts: LiveFacts }
  | { readonly is: "cancelled"; readonly state: JobState };

/** A job that moves has no owner who answers for so long at most. A description is not worth that wait. */
const LIMITS_MS = { describe: 500, cancel: 5_000 } as const;
const RETRY_MS = 50;

/** Asks the owners of jobs that are not here, and answers such questions for the jobs that are. */
export class RemoteJobs implements JobRouter {
  readonly #deps: RemoteJobsDeps;
  readonly #stop: Unsubscribe;

  constructor(deps: RemoteJobsDeps) {
    this.#deps = deps;
    this.#stop = deps.bus.answer(`${deps.selfId}.job`, (question) => this.#answer(question as JobQuestion));
  }

  async find(jobId: string): Promise<RemoteJob | undefined> {
    if ((await this.#deps.cluster.ownerOf(jobId)) === undefined) return undefined;
    return {
      describe: () => this.#describe(jobId),
      cancel: () => this.#cancel(jobId),
      openFeed: (after) => this.#deps.feeds.open(jobId, after),
    };
  }

  /** Answers no more. */
  close(): void {
    this.#stop();
  }

  async #describe(jobId: string): Promise<LiveFacts | null> {
    const { answer } = await this.#ask({ ask: "describe", jobId });
    return answer?.is === "described" ? answer.facts : null;
  }

  async #cancel(jobId: string): Promise<JobState | null> {
    const { answer, isRepeated } = await this.#ask({ ask: "cancel", jobId });
    if (answer?.is === "cancelled") return answer.state;
    // The first question may have been heard, and only its answer lost.
    const state = isRepeated ? (await this.#deps.store.get(jobId))?.state : undefined;
    return state === "cancelled" ? state : null;
  }

  /** Asks the owner, whoever that is by then. The answer is null for a job that has ended. */
  async #ask(question: JobQuestion): Promise<{ readonly answer: JobAnswer | null; readonly isRepeated: boolean }> {
    const { cluster, clock } = this.#deps;
    const untilMs = clock.monotonicMs() + LIMITS_MS[question.ask];
    for (let isRepeated = false; ; isRepeated = true) {
      const ownerId = await cluster.ownerOf(question.jobId);
      if (ownerId === undefined) return { answer: null, isRepeated };
      const answer = await this.#askOne(ownerId, question, untilMs - clock.monotonicMs());
      if (answer !== null && answer.is !== "gone") return { answer, isRepeated };
      if (clock.monotonicMs() >= untilMs) throw new ClusterUnavailableError();
      await clock.sleep(RETRY_MS);
    }
  }

  /** Null when there is no answer. @throws {ServiceError} `cluster_unavailable` while no other coordinator can be reached. */
  async #askOne(ownerId: string, question: JobQuestion, timeoutMs: number): Promise<JobAnswer | null> {
    const { bus, selfId } = this.#deps;
    try {
      return (await bus.request(`${ownerId}.job`, question, Math.max(timeoutMs, 1))) as JobAnswer;
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (bus.downBecause !== null && ownerId !== selfId) throw new ClusterUnavailableError({ cause: error });
      return null;
    }
  }

  async #answer({ ask, jobId }: JobQuestion): Promise<JobAnswer> {
    const { jobs, explainWait } = this.#deps;
    const job = jobs.get(jobId);
    if (job === undefined) return { is: "gone" };
    if (job.hasEnded) {
      await jobs.settled([job]);
      return { is: job.isDropped ? "gone" : "ended" };
    }
    if (ask === "describe") {
      const { state, attempt, startedAtMs } = job;
      return { is: "described", facts: { state, attempt, startedAtMs, waiting: explainWait(job) } };
    }
    try {
      await jobs.cancel(jobId);
      return { is: "cancelled", state: job.state };
    } catch (error) {
      if (error instanceof NotOwnerError) return { is: "gone" };
      throw error;
    }
  }
}
