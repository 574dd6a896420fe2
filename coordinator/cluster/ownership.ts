import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { BatchService } from "../jobs/batch-service.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Submissions } from "../jobs/submissions.ts";
import type { ClusterStore, Peer } from "../store/cluster-store.ts";
import type { Store } from "../store/store.ts";
import { BatchEnds } from "./batch-ends.ts";
import { Membership } from "./membership.ts";
import { MovedJobs } from "./moved-jobs.ts";
import type { NetworkClock } from "./network-clock.ts";
import { answerTakes, handOverWaiting } from "./orderly-leave.ts";

export interface OwnershipDeps {
  readonly cluster: ClusterStore;
  readonly store: Pick<Store, "islands">;
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly batches: BatchService;
  readonly submissions: Pick<Submissions, "settled">;
  readonly bus: Bus;
  readonly self: Omit<Peer, "id">;
  readonly clock: Clock;
  readonly networkClock: Pick<NetworkClock, "set">;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  /** How long lost Islands may take to come back to any coordinator; and to the only one, after its restart. */
  readonly graceMs: number;
  readonly restartGraceMs: number;
}

/** Which jobs are this coordinator's: from its first lease until it leaves. */
export class Ownership {
  readonly members: Membership;
  readonly mover: MovedJobs;
  /** Jobs that coordinators which stopped gave to this one. */
  handedOver = 0;
  readonly #deps: OwnershipDeps;
  readonly #batchEnds: BatchEnds;
  readonly #unsubscribe: Unsubscribe;

  constructor(deps: OwnershipDeps) {
    const { graceMs, restartGraceMs } = deps;
    this.#deps = deps;
    this.mover = new MovedJobs({ ...deps, graceMs: () => (this.members.living.length > 1 ? graceMs : restartGraceMs) });
    this.members = new Membership({ ...deps, mover: this.mover });
    this.#batchEnds = new BatchEnds(deps);
    this.#unsubscribe = answerTakes(deps.bus, deps.cluster.selfId, {
      takeIn: async (jobIds) => {
        const count = await this.mover.takeIn(jobIds);
        this.handedOver += count;
        return count;
      },
    });
  }

  /** Before clients and Islands are let in. @throws {ServiceError} `storage_unavailable`; then it may be called again. */
  start(): Promise<void> {
    return this.members.start();
  }

  /** Addresses of the other coordinators that live. */
  get peerAddresses(): string[] {
    const { living, self } = this.members;
    return living.filter(({ id }) => id !== self.id).map(({ address }) => address);
  }

  /** The first half of an orderly stop, while Islands and clients are still here. */
  handOverWaiting(freestPeer: () => Peer | undefined, signal: AbortSignal): Promise<number> {
    const { members, mover } = this;
    return handOverWaiting({ ...this.#deps, members, mover, freestPeer, signal });
  }

  /** The second half: Islands and clients have gone. What is left is anybody's. Before the store closes. */
  async leave(): Promise<void> {
    this.#unsubscribe();
    this.#batchEnds.close();
    this.mover.close();
    await this.members.leave();
  }
}
