import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError } from "../bus/bus.ts";
import type { SchedulerEvent } from "../scheduler/events.ts";
import type { SharedWork, WorkKind } from "../scheduler/shared-work.ts";
import type { Peer } from "../store/cluster-store.ts";
import { M, type ReplyOf, type StealRequest } from "./messages.ts";
import type { JobMover } from "./moved-jobs.ts";
import type { Peers } from "./peers.ts";
import { whileOthers } from "./while-others.ts";
import { workShares, type Steal } from "./work-shares.ts";

/** Changes in this time are sent, and acted on, together. */
const TICK_MS = 25;
/** Without a reply, jobs may have become this coordinator's all the same, at once or when a slow commit ends. Looked for after this. */
const RECONCILE_AFTER_MS = 5_000;

export type WorkSharing = ReturnType<typeof shareWork>;

/**
 * Lets free slots of one coordinator run waiting jobs of another, from now on. {@link workShares} decides.
 * @param schedule tells the scheduler of `work`, and carries out what it decides.
 */
export function shareWork(
  peers: Peers,
  mover: Pick<JobMover, "transfer" | "adopt" | "reconcile">,
  work: SharedWork,
  schedule: (event: Extract<SchedulerEvent, { kind: "job_stays" }>) => void,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
) {
  const shares = workShares(peers.self.id, work);
  /** Requests, asked and answered, that are under way. */
  const inFlight = new Set<Promise<unknown>>();
  let reconciling: Timer | null = null;
  let isClosed = false;
  /** Jobs that came from others because slots were free here. */
  let stolen = 0;

  function tick(): void {
    const nowMs = clock.monotonicMs();
    shares.prune(peers.isLive, nowMs);
    if (peers.downBecause !== null) return;
    const status = shares.announcement(nowMs);
    if (status !== undefined) peers.tell(M.status, status);
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
      const { jobIds, rest } = await peers.ask(victimId, M.steal, request);
      shares.noteRest(victimId, rest);
      const taken = jobIds.length === 0 ? 0 : await mover.adopt(jobIds);
      stolen += taken;
      shares.answered(victimId, jobIds.length, clock.monotonicMs());
    } catch (err) {
      shares.failed(victimId, clock.monotonicMs());
      if (err instanceof BusError && err.kind === "unreachable") return;
      log.warn({ err, peer: victimId }, "Another coordinator did not say which waiting jobs it gives");
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
        mover.reconcile().catch((err: unknown) => log.warn({ err }, "Looking for jobs that came here failed")),
      );
    });
  }

  async function give(request: StealRequest, toId: string): Promise<ReplyOf<typeof M.steal>> {
    if (!peers.isLive(toId)) throw new Error(`Coordinator ${toId} is not known here yet`);
    const jobIds = await transfer(shares.give(toId, request), toId);
    return { jobIds, rest: shares.restOf(request) };
  }

  async function transfer(taken: readonly string[], toId: string): Promise<readonly string[]> {
    if (taken.length === 0) return taken;
    let moved: readonly string[] = [];
    try {
      moved = await mover.transfer(taken, toId);
    } finally {
      // Also those that the mover did not begin to move: it knows more of a job than the scheduler.
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
    peers.hear(M.status, (status, id) => {
      if (peers.isLive(id)) shares.hear(id, status, clock.monotonicMs());
      // The sender is not known here yet. It needs the status of this coordinator, which sends none while it has no others.
      else tick();
    }),
    whileOthers(peers, clock, TICK_MS, tick),
    peers.answer(M.steal, (request, fromId) => track(give(request, fromId))),
  ];

  return {
    get stolen(): number {
      return stolen;
    },
    /** The living peer with most free slots, by its last status; undefined while none was heard. */
    freestPeer(): Peer | undefined {
      const id = shares.freestPeerId();
      return peers.live.find((peer) => peer.id === id);
    },
    /** What the other coordinators said last of a kind of work. */
    elsewhere: shares.elsewhere,
    /** Another coordinator may have Islands for that kind, and can be told of the job. */
    mayRunElsewhere: (kind: WorkKind): boolean =>
      !isClosed && peers.downBecause === null && shares.mayRunElsewhere(kind),
    /** Jobs that wait at other coordinators, by Cargo, as those said last. */
    waitingElsewhere: shares.waitingElsewhere,
    /** Each other coordinator that lives was heard all the time since then, by the monotonic clock. */
    hasHeardAllSince: (sinceMs: number): boolean =>
      peers.live.every(({ id }) => id === peers.self.id || shares.wasHeardSince(id, sinceMs)),
    /** Neither asks nor gives any more. Resolves when what is under way is over. */
    async close(): Promise<void> {
      isClosed = true;
      reconciling?.cancel();
      for (const stop of stops) stop();
      await Promise.allSettled(inFlight);
    },
  };
}
