import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Unsubscribe } from "../bus/bus.ts";
import type { ClusterStore, Peer } from "../store/cluster-store.ts";
import type { JobMover } from "./job-mover.ts";
import type { Members } from "./members.ts";
import type { NetworkClock } from "./network-clock.ts";

export interface MembershipDeps {
  readonly cluster: ClusterStore;
  readonly self: Omit<Peer, "id">;
  readonly mover: Pick<JobMover, "takeIn" | "reconcile">;
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "warn">;
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  /** Learns the time of the database, with each renewal. */
  readonly networkClock: Pick<NetworkClock, "set">;
}

/** Jobs of a dead coordinator that are taken over in one commit: others who try get their parts meanwhile. */
const ADOPT_AT_ONCE = 500;
/** How often memory is compared with storage at least, for what a lost answer left out: a submission, a hand-over. */
const RECONCILE_MS = 60_000;

/**
 * This coordinator's lease: renews it, knows the others by theirs, and takes over the jobs of those that died. While storage does not
 * answer, the living are those that were seen last.
 */
export class Membership implements Members {
  #self: Peer;
  readonly #deps: MembershipDeps;
  readonly #listeners = new Set<() => void>();
  #living: readonly Peer[];
  #timer: Timer | null = null;
  readonly #unsubscribe: Unsubscribe;
  /** Since when every renewal came in time, by the monotonic clock; null before the first. */
  #steadySinceMs: number | null = null;
  #renewedMs = -Infinity;
  #reconciledMs: number;
  #renewing: Promise<void> | null = null;
  #isCaring = false;
  #isLeaving = false;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
    this.#self = { id: deps.cluster.selfId, ...deps.self };
    this.#living = [this.#self];
    this.#reconciledMs = deps.clock.monotonicMs();
    this.#unsubscribe = deps.cluster.onReturn(() => this.#reconcileSoon());
  }

  get self(): Peer {
    return this.#self;
  }

  /** Others learn it with the next renewal. */
  setAddress(address: string): void {
    this.#self = { ...this.#self, address };
  }

  get living(): readonly Peer[] {
    return this.#living;
  }

  onChange(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Begins the lease, and takes in the jobs of coordinators that left. Before the first job is submitted here: a job of a coordinator
   * without a lease is anybody's. @throws {ServiceError} `storage_unavailable`; then it may be called again.
   */
  async start(): Promise<void> {
    await this.#renew();
    // From now on, as there may be many jobs to take in.
    if (this.#timer === null) this.#renewLater();
    this.#isCaring = true;
    await this.#care().finally(() => (this.#isCaring = false));
  }

  /** Ends the lease: what this coordinator still owns is anybody's. May be called twice, and before {@link start}. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    // A renewal that is under way would begin the lease anew.
    await this.#renewing;
    await this.#deps.cluster.leave().catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, "The lease of this coordinator could not be ended: it ends by itself");
    });
  }

  #renewLater(): void {
    if (this.#isLeaving) return;
    this.#timer = this.#deps.clock.schedule(this.#deps.leaseRenewMs, () => {
      this.#renewing = this.#tick().finally(() => {
        this.#renewing = null;
        this.#renewLater();
      });
    });
  }

  async #tick(): Promise<void> {
    const { log } = this.#deps;
    try {
      await this.#renew();
    } catch (error) {
      log.warn({ err: error }, "The lease of this coordinator could not be renewed");
      this.#reconcileSoon();
      return;
    }
    // Apart from the renewals, which must come in time whatever there is to take over.
    if (this.#isCaring) return;
    this.#isCaring = true;
    void this.#care()
      .catch((error: unknown) => {
        log.warn({ err: error }, "Looking after the jobs of other coordinators failed");
        this.#reconcileSoon();
      })
      .finally(() => {
        this.#isCaring = false;
      });
  }

  async #renew(): Promise<void> {
    const { cluster, clock, networkClock, log, leaseMs } = this.#deps;
    const isFirst = this.#steadySinceMs === null;
    const wasValid = await cluster.renew(this.#self, leaseMs);
    const nowMs = clock.monotonicMs();
    const isLate = nowMs - this.#renewedMs > leaseMs;
    if (isLate || !wasValid) this.#steadySinceMs = nowMs;
    this.#renewedMs = nowMs;
    if (!wasValid && !isFirst) {
      log.warn({}, "The lease of this coordinator was over: others may have taken its jobs");
      this.#reconcileSoon();
    }
    this.#setLiving(await cluster.peers());
    await networkClock.set(() => cluster.nowMs());
  }

  /** With the next renewal. */
  #reconcileSoon(): void {
    this.#reconciledMs = -Infinity;
  }

  #setLiving(living: readonly Peer[]): void {
    const textOf = (peers: readonly Peer[]): string => peers.map(({ id, address }) => `${id} ${address}`).join();
    if (textOf(living) === textOf(this.#living)) return;
    // One that left may have given jobs to this coordinator without telling.
    if (this.#living.some(({ id }) => !living.some((peer) => peer.id === id))) this.#reconcileSoon();
    this.#living = living;
    for (const listener of this.#listeners) listener();
  }

  async #care(): Promise<void> {
    const { mover, clock } = this.#deps;
    if (clock.monotonicMs() - this.#reconciledMs >= RECONCILE_MS) {
      // Before it begins: what happens meanwhile is a reason for another.
      this.#reconciledMs = clock.monotonicMs();
      await mover.reconcile();
    }
    await this.#reap();
    await this.#adopt();
  }

  /**
   * After storage was away, or this process stood still, the leases of all may be over: who is back first leaves the others the time of a
   * lease to come back too.
   */
  async #reap(): Promise<void> {
    const { cluster, clock, log, leaseMs } = this.#deps;
    if (clock.monotonicMs() - (this.#steadySinceMs ?? Infinity) < leaseMs) return;
    const dead = await cluster.reap();
    if (dead > 0) log.warn({ dead }, "Coordinators are dead: their jobs are taken over");
  }

  async #adopt(): Promise<void> {
    const { cluster, mover } = this.#deps;
    while (!this.#isLeaving) {
      const jobIds = await cluster.adopt(ADOPT_AT_ONCE);
      if (jobIds.length === 0) return;
      await mover.takeIn(jobIds);
    }
  }
}
