import type { Timer } from "../../shared/clock.ts";
import type { Env } from "../env.ts";
import type { ClusterStore, Peer } from "../store/cluster-store.ts";
import type { JobMover } from "./moved-jobs.ts";
import type { Network } from "./open-network.ts";

/** Maximum number of jobs that are adopted in one commit. Small parts let several coordinators share the work. */
const ADOPT_AT_ONCE = 500;
/** Maximum time between comparisons with storage. They find jobs that moved although the reply to the move was lost. */
const RECONCILE_MS = 60_000;

/** Renews this coordinator's lease, reads the peers' leases, and adopts the jobs of dead coordinators. */
export function keepLease(
  { config: { leaseMs, leaseRenewMs }, clock, log }: Pick<Env<"leaseMs" | "leaseRenewMs">, "config" | "clock" | "log">,
  cluster: ClusterStore,
  { peers, learnTime }: Pick<Network, "learnTime" | "peers">,
  mover: Pick<JobMover, "adopt" | "reconcile">,
) {
  let timer: Timer | null = null;
  /** Monotonic time since which every renewal was on time; null before the first. */
  let steadySinceMs: number | null = null;
  let renewedMs = -Infinity;
  let reconciledMs = clock.monotonicMs();
  let renewing: Promise<void> | null = null;
  /** True while jobs are compared with storage and adopted. */
  let isMaintaining = false;
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
      log.warn({ err: error }, "Could not renew the lease of this coordinator");
      reconcileSoon();
      return;
    }
    // Renewals must be on time, no matter how long the adoption of jobs takes.
    if (isMaintaining) return;
    isMaintaining = true;
    void maintain()
      .catch((error: unknown) => {
        log.warn({ err: error }, "Could not adopt the jobs of peers");
        reconcileSoon();
      })
      .finally(() => (isMaintaining = false));
  }

  async function renew(): Promise<void> {
    const isFirst = steadySinceMs === null;
    const wasValid = await cluster.renew(peers.self, leaseMs);
    const nowMs = clock.monotonicMs();
    const isLate = nowMs - renewedMs > leaseMs;
    if (isLate || !wasValid) steadySinceMs = nowMs;
    renewedMs = nowMs;
    if (!wasValid && !isFirst) {
      log.warn({}, "The lease of this coordinator had expired; others may have adopted its jobs");
      reconcileSoon();
    }
    setLive(await cluster.peers());
    await learnTime();
  }

  function reconcileSoon(): void {
    reconciledMs = -Infinity;
  }

  function setLive(live: readonly Peer[]): void {
    const textOf = (all: readonly Peer[]): string => all.map(({ id, address }) => `${id} ${address}`).join();
    if (textOf(live) === textOf(peers.live)) return;
    // The message about jobs that a leaving coordinator transferred to this one may be lost.
    if (peers.live.some(({ id }) => !live.some((peer) => peer.id === id))) reconcileSoon();
    peers.setLive(live);
  }

  async function maintain(): Promise<void> {
    if (clock.monotonicMs() - reconciledMs >= RECONCILE_MS) {
      // A failure from here on causes another comparison.
      reconciledMs = clock.monotonicMs();
      await mover.reconcile();
    }
    await reap();
    await adopt();
  }

  /**
   * Reaps dead coordinators. After a storage outage or a pause all leases may have expired, so the first coordinator
   * that returns waits one lease time for the others.
   */
  async function reap(): Promise<void> {
    if (clock.monotonicMs() - (steadySinceMs ?? Infinity) < leaseMs) return;
    const dead = await cluster.reap();
    if (dead > 0) log.warn({ dead }, "Adopting the jobs of dead coordinators");
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
     * Acquires the lease and adopts unowned jobs. Must be called before the first job is submitted, which would be
     * unowned without a lease.
     * @throws {ServiceError} `storage_unavailable`; may be repeated
     */
    async start(): Promise<void> {
      await renew();
      // Start renewals now, because adopting may take long.
      if (timer === null) renewLater();
      isMaintaining = true;
      await maintain().finally(() => (isMaintaining = false));
    },
    /** Ends the lease: jobs of this coordinator become unowned. May be called twice, and before `start()`. */
    async leave(): Promise<void> {
      if (isLeaving) return;
      isLeaving = true;
      unsubscribe();
      timer?.cancel();
      // A renewal in flight would restart the lease.
      await renewing;
      await cluster.leave().catch((error: unknown) => {
        log.warn({ err: error }, "Could not end the lease of this coordinator; it will expire");
      });
    },
  };
}
