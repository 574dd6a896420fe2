import type { Timer } from "../../shared/clock.ts";
import { BusError } from "../bus/bus.ts";
import type { SchedulerEvent, WorkKind } from "../scheduler/events.ts";
import type { SharedWork } from "../scheduler/shared-work.ts";
import type { Peer } from "../store/cluster-store.ts";
import { MESSAGES, type ReplyOf, type StealRequest } from "./messages.ts";
import type { JobMover } from "./moved-jobs.ts";
import type { PeersEnv } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";
import { whileOthers } from "./while-others.ts";
import { workShares, type Steal } from "./work-shares.ts";

/** Period in which changes are collected before statuses and requests are sent. */
const TICK_MS = 25;
/** Delay before a comparison with storage. After a lost reply, jobs may still move here when a slow commit ends. */
const RECONCILE_AFTER_MS = 5_000;

export type WorkSharing = ReturnType<typeof shareWork>;

/**
 * Lets free slots of one coordinator run waiting jobs of another. {@link workShares} makes the decisions.
 * @param schedule applies the event to the scheduler of `work`, and carries out its decisions
 */
export function shareWork(
  peers: Peers,
  mover: Pick<JobMover, "transfer" | "adopt" | "reconcile">,
  work: SharedWork,
  schedule: (event: Extract<SchedulerEvent, { kind: "job_stays" }>) => void,
  { clock, log }: PeersEnv,
) {
  const shares = workShares(peers.self.id, work);
  const inFlight = new Set<Promise<unknown>>();
  let reconciling: Timer | null = null;
  let isClosed = false;
  /** Number of jobs that moved here at the request of this coordinator. */
  let stolen = 0;

  function tick(): void {
    const nowMs = clock.monotonicMs();
    shares.prune(peers.isLive, nowMs);
    if (peers.downReason !== null) return;
    const status = shares.announcement(nowMs);
    if (status !== undefined) peers.broadcast(MESSAGES.status, status);
    stealNext();
  }

  function stealNext(): void {
    if (isClosed) return;
    const nowMs = clock.monotonicMs();
    for (let next = shares.nextSteal(nowMs); next !== undefined; next = shares.nextSteal(nowMs))
      void track(steal(next));
  }

  async function steal({ victimId, request }: Steal): Promise<void> {
    try {
      const { jobIds, rest } = await peers.ask(victimId, MESSAGES.steal, request);
      shares.noteVictimLoad(victimId, rest);
      const taken = await mover.adopt(jobIds);
      stolen += taken;
      shares.noteReply(victimId, jobIds.length, clock.monotonicMs());
    } catch (err) {
      shares.noteFailure(victimId, clock.monotonicMs());
      if (err instanceof BusError && err.kind === "unreachable") return;
      log.warn({ err, coordinator: victimId }, "A peer did not reply to a request for waiting jobs");
      reconcileLater();
      return;
    }
    stealNext();
  }

  function reconcileLater(): void {
    if (isClosed) return;
    reconciling ??= clock.schedule(RECONCILE_AFTER_MS, () => {
      reconciling = null;
      void track(
        mover.reconcile().catch((err: unknown) => log.warn({ err }, "Could not check for jobs that moved here")),
      );
    });
  }

  async function give(request: StealRequest, thiefId: string): Promise<ReplyOf<typeof MESSAGES.steal>> {
    if (!peers.isLive(thiefId)) throw new Error(`Coordinator ${thiefId} is not known here yet`);
    const jobIds = await transfer(shares.giveTo(thiefId, request), thiefId);
    return { jobIds, rest: shares.remainingLoad(request) };
  }

  async function transfer(taken: readonly string[], thiefId: string): Promise<readonly string[]> {
    if (taken.length === 0) return taken;
    let moved: readonly string[] = [];
    try {
      moved = await mover.transfer(taken, thiefId);
    } finally {
      // `taken` may include jobs that the mover did not start to move.
      const gone = new Set(moved);
      for (const jobId of taken) if (!gone.has(jobId)) schedule({ kind: "job_stays", jobId });
    }
    return moved;
  }

  function track<T>(task: Promise<T>): Promise<T> {
    const tracked = task.finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
    return tracked;
  }

  const stops = [
    peers.onBroadcast(MESSAGES.status, (status, id) => {
      if (peers.isLive(id)) shares.receive(id, status, clock.monotonicMs());
      // The unknown sender needs the status of this coordinator, which sends none while it knows no other coordinator.
      else tick();
    }),
    whileOthers(peers, clock, TICK_MS, tick),
    peers.handle(MESSAGES.steal, (request, fromId) => track(give(request, fromId))),
  ];

  return {
    get stolen(): number {
      return stolen;
    },
    /** Returns the live peer with the most free slots, by its last status; undefined if none is known. */
    freestPeer(): Peer | undefined {
      const id = shares.freestPeerId();
      return peers.live.find((peer) => peer.id === id);
    },
    elsewhere: shares.elsewhere,
    mayRunElsewhere: (kind: WorkKind): boolean =>
      !isClosed && peers.downReason === null && shares.mayRunElsewhere(kind),
    waitingElsewhere: shares.waitingElsewhere,
    /** Returns true if no live coordinator was silent since `sinceMs`, by the monotonic clock. */
    hasReceivedFromAllSince: (sinceMs: number): boolean =>
      peers.live.every(({ id }) => id === peers.self.id || shares.wasActiveSince(id, sinceMs)),
    async close(): Promise<void> {
      isClosed = true;
      reconciling?.cancel();
      for (const stop of stops) stop();
      await Promise.allSettled(inFlight);
    },
  };
}
