import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus } from "../bus/bus.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobRouter } from "../jobs/job-router.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Store } from "../store/store.ts";
import { FeedPublisher, type FeedPublisherDeps } from "./feed-publisher.ts";
import { FollowedFeeds } from "./followed-feeds.ts";
import { LoopbackBus } from "./loopback-bus.ts";
import { RemoteJobs } from "./remote-jobs.ts";

export interface SharedJobsDeps {
  readonly cluster: ClusterStore;
  readonly store: Pick<Store, "jobs">;
  readonly jobs: JobRegistry;
  readonly bus: Bus;
  readonly isLiving: FeedPublisherDeps["isLiving"];
  /** What copies of other coordinators' feeds may take in memory. */
  readonly maxFollowedBytes: number;
  readonly explainWait: (job: ActiveJob) => JobWaiting | null;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** Every coordinator answers for every job: what this one tells others of its jobs, and how it finds theirs. */
export class SharedJobs {
  /** For all that clients ask of jobs. */
  readonly router: JobRouter;
  readonly #publisher: FeedPublisher;
  readonly #followed: FollowedFeeds;
  readonly #remote: RemoteJobs;

  constructor(shared: SharedJobsDeps) {
    const { cluster, store, jobs, isLiving, explainWait, clock, log, maxFollowedBytes: maxBytes } = shared;
    const { selfId } = cluster;
    const bus = new LoopbackBus(shared.bus, selfId);
    this.#publisher = new FeedPublisher({ selfId, bus, jobs, isLiving, clock });
    this.#followed = new FollowedFeeds({ selfId, bus, cluster, store: store.jobs, clock, log, maxBytes });
    const feeds = this.#followed;
    this.#remote = new RemoteJobs({ selfId, bus, cluster, store: store.jobs, jobs, feeds, explainWait, clock });
    this.router = this.#remote;
    jobs.subscribe((event) => {
      if (event.type !== "job_dropped") return;
      this.#publisher.drop(event.job.id);
      this.#followed.goOn(event);
    });
  }

  /** Nothing is answered or followed any more. After the jobs were handed over and clients have gone, before the bus closes. */
  close(): void {
    this.#remote.close();
    this.#publisher.close();
    this.#followed.close();
  }
}
