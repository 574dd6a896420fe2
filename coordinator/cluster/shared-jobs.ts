import { ClusterUnavailableError } from "../../shared/errors.ts";
import { BusError } from "../bus/bus.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobPlacement } from "../jobs/job-placement.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobRouter } from "../jobs/job-router.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { Store } from "../store/store.ts";
import { publishFeeds } from "./feed-publisher.ts";
import { followFeeds } from "./feed-replicas.ts";
import { MESSAGES, type Question, type ReplyOf } from "./messages.ts";
import type { PeersEnv } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";

/** Delay before the owner of a job is looked up and asked again. */
const RETRY_MS = 50;

/**
 * Routes requests for a job to its owner, and serves requests of other coordinators for jobs here. `close` must be
 * called after clients have gone.
 */
export function shareJobs(
  peers: Peers,
  { cluster, jobs: store }: Pick<Store, "cluster" | "jobs">,
  jobs: JobRegistry,
  explainWait: (job: ActiveJob) => JobWaiting | null,
  placementOf: (jobId: string, islandId: string | null) => JobPlacement | null,
  maxFollowedBytes: number,
  env: PeersEnv,
): JobRouter & { readonly close: () => void } {
  const { clock } = env;
  const published = publishFeeds(peers, jobs);
  const feeds = followFeeds(peers, cluster, store, maxFollowedBytes, env);

  jobs.subscribe((event) => {
    if (event.type !== "job_dropped") return;
    published.drop(event.job.id);
    feeds.resume(event.feed, event.ownerId);
  });
  peers.handle(MESSAGES.describeJob, async ({ jobId }): Promise<ReplyOf<typeof MESSAGES.describeJob>> => {
    const job = await unfinished(jobId);
    if ("is" in job) return job;
    const { state, attempt, startedAtMs } = job;
    const placement = placementOf(jobId, job.islandId);
    return { is: "described", facts: { state, attempt, startedAtMs, waiting: explainWait(job), placement } };
  });
  peers.handle(MESSAGES.cancelJob, async ({ jobId }): Promise<ReplyOf<typeof MESSAGES.cancelJob>> => {
    const job = await unfinished(jobId);
    if ("is" in job) return job;
    try {
      await jobs.cancel(jobId);
      return { is: "cancelled", state: job.state };
    } catch (error) {
      if (error instanceof NotOwnerError) return { is: "gone" };
      throw error;
    }
  });

  async function unfinished(jobId: string): Promise<ActiveJob | { readonly is: "gone" | "ended" }> {
    const job = jobs.get(jobId);
    if (job === undefined) return { is: "gone" };
    if (!job.hasEnded) return job;
    await jobs.settled([job]);
    return { is: job.isDropped ? "gone" : "ended" };
  }

  /**
   * Asks the owner of the job, and asks again if the owner does not reply or the job moves. `reply` is null if the job
   * has ended.
   * @throws {ClusterUnavailableError} after the timeout of the request
   */
  async function askOwner<R extends { readonly is: string }>(
    message: Question<{ jobId: string }, R>,
    jobId: string,
  ): Promise<{ readonly reply: R | null; readonly isRepeated: boolean }> {
    const untilMs = clock.monotonicMs() + message.withinMs;
    for (let isRepeated = false; ; isRepeated = true) {
      const ownerId = await cluster.ownerOf(jobId);
      if (ownerId === undefined) return { reply: null, isRepeated };
      const reply = await peers
        .ask(ownerId, message, { jobId }, untilMs - clock.monotonicMs())
        .catch((cause: unknown) => {
          if (!(cause instanceof BusError)) throw cause;
          if (peers.downReason !== null && ownerId !== peers.self.id) throw new ClusterUnavailableError({ cause });
          return null;
        });
      if (reply !== null && reply.is !== "gone") return { reply, isRepeated };
      if (clock.monotonicMs() >= untilMs) throw new ClusterUnavailableError();
      await clock.sleep(RETRY_MS);
    }
  }

  return {
    async find(jobId) {
      if ((await cluster.ownerOf(jobId)) === undefined) return undefined;
      return {
        async describe() {
          const { reply } = await askOwner(MESSAGES.describeJob, jobId);
          return reply?.is === "described" ? reply.facts : null;
        },
        async cancel() {
          const { reply, isRepeated } = await askOwner(MESSAGES.cancelJob, jobId);
          if (reply?.is === "cancelled") return reply.state;
          // The first request may have been received and only its reply lost.
          const state = isRepeated ? (await store.get(jobId))?.state : undefined;
          return state === "cancelled" ? state : null;
        },
        openFeed: (after) => feeds.open(jobId, after),
      };
    },
    close: () => feeds.close(),
  };
}
