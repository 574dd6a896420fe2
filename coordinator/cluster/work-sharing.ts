import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError, type Bus, type Unsubscribe } from "../bus/bus.ts";
import type { SchedulerEvent } from "../scheduler/events.ts";
import type { Elsewhere } from "../scheduler/explain-elsewhere.ts";
import type { SharedWork, WorkKind } from "../scheduler/shared-work.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { JobMover } from "./job-mover.ts";
import type { Members } from "./members.ts";
import { readPeerStatus, readStealAnswer, readStealRequest, type StealAnswer } from "./sharing-messages.ts";
import { WorkShares, type Steal } from "./work-shares.ts";

export interface WorkSharingDeps {
  readonly bus: Bus;
  readonly members: Pick<Members, "self" | "living" | "onChange">;
  readonly mover: Pick<JobMover, "handOver" | "takeIn" | "reconcile">;
  readonly work: SharedWork;
  /** Tells the scheduler of `work`, and carries out what it decides. */
  readonly schedule: (event: Extract<SchedulerEvent, { kind: "job_stays" }>) => void;
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "warn">;
}

/** Subject of what every coordinator tells all. */
const PEERS = "peers";
/** What changed in this time is told, and acted on, together. */
const TICK_MS = 25;
const ANSWER_TIMEOUT_MS = 5_000;
/** Without an answer, jobs may have become this coordinator's all the same, at once or when a slow commit ends. Looked for after this. */
const RECONCILE_AFTER_MS = 5_000;

function stealSubjectOf(id: string): string {
  return `${id}.steal`;
}

/** Lets free slots of one coordinator run waiting jobs of another. What is decided, and why, is in {@link WorkShares}. */
export class WorkSharing {
  readonly #deps: WorkSharingDeps;
  readonly #shares: WorkShares;
  readonly #unsubscribe: Unsubscribe[];
  #living: ReadonlySet<string> = new Set();
  #timer: Timer;
  #reconciling: Timer | null = null;
  #isClosed = false;
  #stolen = 0;
  /** Requests, asked and answered, that are under way. */
  readonly #underWay = new Set<Promise<unknown>>();

  /** Begins at once. */
  constructor(deps: WorkSharingDeps) {
    this.#deps = deps;
    const { bus, members, work, clock } = deps;
    this.#shares = new WorkShares(members.self.id, work);
    this.#noteLiving();
    this.#unsubscribe = [
      members.onChange(() => this.#noteLiving()),
      bus.subscribe(PEERS, (message) => this.#hear(message)),
      bus.answer(stealSubjectOf(members.self.id), (message) => this.#track(this.#give(message))),
    ];
    this.#timer = clock.schedule(0, () => this.#tick());
  }

  /** The living peer with most free slots, as they said last; undefined while none is heard. */
  freestPeer(): Peer | undefined {
    const id = this.#shares.freestPeerId();
    return this.#deps.members.living.find((peer) => peer.id === id);
  }

  /** Jobs that came from others because slots were free here. */
  get stolen(): number {
    return this.#stolen;
  }

  /** What the other coordinators said last of a kind of work. */
  elsewhere(kind: WorkKind): Elsewhere {
    return this.#shares.elsewhere(kind);
  }

  /** Another coordinator may have Islands for that kind, and can be told of the job. */
  mayRunElsewhere(kind: WorkKind): boolean {
    return !this.#isClosed && this.#deps.bus.downBecause === null && this.#shares.mayRunElsewhere(kind);
  }

  /** Jobs that wait at other coordinators, by Cargo, as those said last. */
  waitingElsewhere(): ReadonlyMap<string, number> {
    return this.#shares.waitingElsewhere();
  }

  /** Each other coordinator that lives was heard all the time since then, by the monotonic clock. */
  hasHeardAllSince(sinceMs: number): boolean {
    const selfId = this.#deps.members.self.id;
    return [...this.#living].every((id) => id === selfId || this.#shares.wasHeardSince(id, sinceMs));
  }

  /** Neither asks nor gives any more. Resolves when what is under way is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.cancel();
    this.#reconciling?.cancel();
    for (const end of this.#unsubscribe) end();
    await Promise.allSettled(this.#underWay);
  }

  #tick(): void {
    const { bus, clock } = this.#deps;
    this.#timer = clock.schedule(TICK_MS, () => this.#tick());
    if (bus.downBecause !== null) return;
    const nowMs = clock.monotonicMs();
    this.#shares.prune((id) => this.#living.has(id), nowMs);
    const status = this.#shares.announcement(nowMs);
    if (status !== undefined) bus.publish(PEERS, status);
    this.#stealNext();
  }

  #hear(message: unknown): void {
    const status = readPeerStatus(message);
    if (status === undefined || !this.#living.has(status.id)) return;
    this.#shares.hear(status, this.#deps.clock.monotonicMs());
  }

  #noteLiving(): void {
    this.#living = new Set(this.#deps.members.living.map(({ id }) => id));
  }

  #stealNext(): void {
    if (this.#isClosed) return;
    const nowMs = this.#deps.clock.monotonicMs();
    for (let steal = this.#shares.nextSteal(nowMs); steal !== undefined; steal = this.#shares.nextSteal(nowMs))
      void this.#track(this.#steal(steal));
  }

  async #steal({ victimId, request }: Steal): Promise<void> {
    const { bus, mover, clock, log } = this.#deps;
    try {
      const answer = readStealAnswer(await bus.request(stealSubjectOf(victimId), request, ANSWER_TIMEOUT_MS));
      this.#shares.noteRest(victimId, answer.rest);
      if (answer.jobIds.length > 0) this.#stolen += await mover.takeIn(answer.jobIds);
      this.#shares.answered(victimId, answer.jobIds.length, clock.monotonicMs());
    } catch (err) {
      this.#shares.failed(victimId, clock.monotonicMs());
      if (err instanceof BusError && err.kind === "unreachable") return;
      log.warn({ err, peer: victimId }, "Another coordinator did not say which waiting jobs it gives");
      this.#reconcileLater();
      return;
    }
    this.#stealNext();
  }

  #reconcileLater(): void {
    const { clock, mover, log } = this.#deps;
    if (this.#isClosed) return;
    this.#reconciling ??= clock.schedule(RECONCILE_AFTER_MS, () => {
      this.#reconciling = null;
      const work = mover
        .reconcile()
        .catch((err: unknown) => log.warn({ err }, "Looking for jobs that came here failed"));
      void this.#track(work);
    });
  }

  async #give(message: unknown): Promise<StealAnswer> {
    const request = readStealRequest(message);
    if (!this.#living.has(request.from)) throw new Error(`Coordinator ${request.from} is not known here yet`);
    const jobIds = await this.#handOver(this.#shares.give(request), request.from);
    return { jobIds, rest: this.#shares.restOf(request) };
  }

  async #handOver(taken: readonly string[], toId: string): Promise<readonly string[]> {
    const { mover, schedule } = this.#deps;
    if (taken.length === 0) return taken;
    let moved: readonly string[] = [];
    try {
      moved = await mover.handOver(taken, toId);
    } finally {
      // Also those that the mover did not begin to move: it knows more of a job than the scheduler.
      const gone = new Set(moved);
      for (const jobId of taken) if (!gone.has(jobId)) schedule({ kind: "job_stays", jobId });
    }
    return moved;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    return tracked;
  }
}
