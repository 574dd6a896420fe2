import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ClusterStore, Peer } from "../store/cluster-store.ts";

interface LeaseDeps {
  readonly cluster: ClusterStore;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "warn">;
}

/** Says again and again that this coordinator lives, so that its jobs stay its own. */
export class Lease {
  readonly #deps: LeaseDeps;
  #self: Omit<Peer, "id">;
  #timer: Timer | null = null;
  #renewal: Promise<void> = Promise.resolve();
  #isOver = false;

  private constructor(deps: LeaseDeps, self: Omit<Peer, "id">) {
    this.#deps = deps;
    this.#self = self;
  }

  /** Begins to live, and takes over the jobs of those that do not any more. */
  static async take(deps: LeaseDeps, self: Omit<Peer, "id">): Promise<Lease> {
    const lease = new Lease(deps, self);
    await deps.cluster.renew(self, deps.leaseMs);
    await deps.cluster.adopt();
    lease.#renewLater();
    return lease;
  }

  /** Once the listener has its port. */
  setAddress(address: string): void {
    this.#self = { ...this.#self, address };
  }

  /** What is not handed over is adopted by the next. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#timer?.cancel();
    await this.#renewal;
    // The lease ends by itself when the database cannot be told.
    await this.#deps.cluster.leave().catch(() => undefined);
  }

  #renewLater(): void {
    if (this.#isOver) return;
    const { cluster, clock, renewMs, leaseMs, log } = this.#deps;
    this.#timer = clock.schedule(renewMs, () => {
      this.#renewal = cluster.renew(this.#self, leaseMs).then(
        () => this.#renewLater(),
        (error: unknown) => {
          log.warn({ err: error }, "The lease of this coordinator could not be renewed");
          this.#renewLater();
        },
      );
    });
  }
}
