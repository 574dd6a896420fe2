import type { Timer } from "../../shared/clock.ts";
import type { Env } from "../env.ts";
import type { ClusterStore, Peer } from "../store/cluster-store.ts";
import type { JobMover } from "./moved-jobs.ts";
import type { Network } from "./open-network.ts";

/** Jobs of a dead coordinator that are taken over in one commit: others who try get their parts meanwhile. */
const ADOPT_AT_ONCE = 500;
/** How often memory is compared with storage at least, for what a lost answer left out: a submission, a hand-over. */
const RECONCILE_MS = 60_000;

/** This coordinator's lease: renews it, knows the peers by theirs, and takes over the jobs of those that died. */
export function keepLease(
  { config: { leaseMs, leaseRenewMs }, clock, log }: Pick<Env<"leaseMs" | "leaseRenewMs">, "config" | "clock" | "log">,
  cluster: ClusterStore,
  { peers, learnTime }: Pick<Network, "learnTime" | "peers">,
  mover: Pick<JobMover, "adopt" | "reconcile">,
) {
  let timer: Timer | null = null;
  /** Since when every renewal came in time, by the monotonic clock; null before the first. */
  let steadySinceMs: number | null = null;
  let renewedMs = -Infinity;
  let reconciledMs = clock.monotonicMs();
  let renewing: Promise<void> | null = null;
  let isCaring = false;
  let isLeaving = false;
  const unsubscribe = cluster.onReturn(reconcileSoon);

  function renewLater(): void {
    if (isLeaving) return;
    timer = clock.schedule(leaseRenewMs, () => {
      renewing = tick().finally(() => {
        renewing = null;
        renewLater();
      });
    });
  }

  async function tick(): Promise<void> {
    try {
      await renew();
    } catch (error) {
      log.warn({ err: error }, "The lease of this coordinator could not be renewed");
      reconcileSoon();
      return;
    }
    // Apart from the renewals, which must come in time whatever there is to take over.
    if (isCaring) return;
    isCaring = true;
    void care()
      .catch((error: unknown) => {
        log.warn({ err: error }, "Looking after the jobs of other coordinators failed");
        reconcileSoon();
      })
      .finally(() => (isCaring = false));
  }

  async function renew(): Promise<void> {
    const isFirst = steadySinceMs === null;
    const wasValid = await cluster.renew(peers.self, leaseMs);
    const nowMs = clock.monotonicMs();
    const isLate = nowMs - renewedMs > leaseMs;
    if (isLate || !wasValid) steadySinceMs = nowMs;
    renewedMs = nowMs;
    if (!wasValid && !isFirst) {
      log.warn({}, "The lease of this coordinator was over: others may have taken its jobs");
      reconcileSoon();
    }
    setLive(await cluster.peers());
    await learnTime();
  }

  /** With the next renewal. */
  function reconcileSoon(): void {
    reconciledMs = -Infinity;
  }

  function setLive(live: readonly Peer[]): void {
    const textOf = (all: readonly Peer[]): string => all.map(({ id, address }) => `${id} ${address}`).join();
    if (textOf(live) === textOf(peers.live)) return;
    // One that left may have given jobs to this coordinator, and its message was lost.
    if (peers.live.some(({ id }) => !live.some((peer) => peer.id === id))) reconcileSoon();
    peers.setLive(live);
  }

  async function care(): Promise<void> {
    if (clock.monotonicMs() - reconciledMs >= RECONCILE_MS) {
      // Before it begins: what happens meanwhile is a reason for another.
      reconciledMs = clock.monotonicMs();
      await mover.reconcile();
    }
    await reap();
    await adopt();
  }

  /**
   * After storage was away, or this process stood still, the leases of all may be over: the first that is back leaves the others the time of
   * a lease to come back too.
   */
  async function reap(): Promise<void> {
    if (clock.monotonicMs() - (steadySinceMs ?? Infinity) < leaseMs) return;
    const dead = await cluster.reap();
    if (dead > 0) log.warn({ dead }, "Coordinators are dead: their jobs are taken over");
  }

  async function adopt(): Promise<void> {
    for (;;) {
      const jobIds = isLeaving ? [] : await cluster.adopt(ADOPT_AT_ONCE);
      if (jobIds.length === 0) return;
      await mover.adopt(jobIds);
    }
  }

  return {
    /**
     * Begins the lease, and takes in the jobs of coordinators that left. Before the first job is submitted here: a job of a coordinator
     * without a lease is unowned. @throws {ServiceError} `storage_unavailable`; then it may be called again.
     */
    async start(): Promise<void> {
      await renew();
      // From now on, as there may be many jobs to take in.
      if (timer === null) renewLater();
      isCaring = true;
      await care().finally(() => (isCaring = false));
    },
    /** Ends the lease: jobs that this coordinator still owns become unowned. May be called twice, and before `start()`. */
    async leave(): Promise<void> {
      if (isLeaving) return;
      isLeaving = true;
      unsubscribe();
      timer?.cancel();
      // A renewal in flight would begin the lease again.
      await renewing;
      await cluster.leave().catch((error: unknown) => {
        log.warn({ err: error }, "The lease of this coordinator could not be ended: it ends by itself");
      });
    },
  };
}
