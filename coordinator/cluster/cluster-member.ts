import { abortable } from "../../shared/abortable.ts";
import type { Elsewhere } from "../scheduler/explain-elsewhere.ts";
import type { Outlook, WorkKind } from "../scheduler/shared-work.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { AccountEndings } from "./account-endings.ts";
import { CatalogChanges } from "./catalog-changes.ts";
import type { HeldJobClaims } from "../dispatch/attempt-fencing.ts";
import type { SessionOrder } from "../islands/session-order.ts";
import type { TakenOver } from "../store/cluster-store.ts";
import { BusUptime } from "./bus-uptime.ts";
import type { AccountEvents } from "../events/account-events.ts";
import { NetworkQuota } from "./network-quota.ts";
import { NewestSessions } from "./newest-sessions.ts";
import { RemoteIslands } from "./remote-islands.ts";
import { RemoteOutlooks } from "./remote-outlooks.ts";
import { RemoteQuestions } from "./remote-questions.ts";
import type { ConnectedIslands, IslandsElsewhere } from "../islands/live-island.ts";
import { shareEvents } from "./share-events.ts";
import { Ownership, type OwnershipDeps } from "./ownership.ts";
import { TakeOver, type TakeOverDeps } from "./take-over.ts";
import { WorkSharing, type WorkSharingDeps } from "./work-sharing.ts";

export interface ClusterMemberDeps extends OwnershipDeps {
  readonly scheduler: Pick<Scheduler, "shared" | "queuedDemand">;
  readonly log: OwnershipDeps["log"] & TakeOverDeps["log"];
  /** False: its bus reaches nobody. */
  readonly hasBus: boolean;
  /** Reads the stored Cargos. */
  readonly refreshCatalog: () => Promise<void>;
}

export interface SharingDispatcher {
  /** Tells the scheduler, and carries out what it decides. */
  schedule(event: Parameters<WorkSharingDeps["schedule"]>[0]): void;
  /** Whether Islands here may run jobs of a kind. */
  outlookFor(kind: WorkKind): Outlook;
}

/**
 * What a coordinator of several has and one that is alone does not: a lease, jobs that move, limits and sessions of Islands that are
 * counted for the network, work that is shared, and what others leave behind.
 */
export class ClusterMember {
  readonly quota: NetworkQuota;
  readonly #deps: ClusterMemberDeps;
  readonly #ownership: Ownership;
  readonly #sessions: NewestSessions;
  readonly #endings: AccountEndings;
  readonly #uptime: BusUptime;
  readonly #catalogChanges: CatalogChanges;
  #islands: RemoteIslands | null = null;
  #questions: RemoteQuestions | null = null;
  #sharing: WorkSharing | null = null;
  #outlooks: RemoteOutlooks | null = null;
  #takeOver: TakeOver | null = null;

  constructor(deps: ClusterMemberDeps) {
    this.#deps = deps;
    const { bus, cluster, islands, jobs, clock, log } = deps;
    this.#ownership = new Ownership(deps);
    const { members } = this.#ownership;
    this.quota = new NetworkQuota({ members, bus, clock });
    this.#sessions = new NewestSessions({ islands, sessions: cluster.islandSessions, bus, log });
    this.#uptime = new BusUptime(bus, clock);
    this.#endings = new AccountEndings({ bus, members, log, endHere: (accountId) => jobs.cancelAll(accountId) });
    this.#catalogChanges = new CatalogChanges({ bus, members, cluster, refresh: deps.refreshCatalog });
  }

  /** Jobs that Islands hold, wherever those were connected. */
  get claims(): HeldJobClaims {
    return this.#ownership.mover;
  }

  get sessions(): SessionOrder {
    return this.#sessions;
  }

  /** Whether that coordinator has a lease, as this one saw last. */
  isLiving(coordinatorId: string): boolean {
    return this.#ownership.members.living.some(({ id }) => id === coordinatorId);
  }

  /** Whether others could be heard all the time since then, by the monotonic clock. */
  couldHearSince(sinceMs: number): boolean {
    return this.#uptime.hasBeenUpSince(sinceMs) && this.#sharing?.hasHeardAllSince(sinceMs) !== false;
  }

  /** Jobs that came here, by how, and coordinators that this one removed. */
  get counts(): TakenOver & { readonly stolen: number; readonly handedOver: number } {
    const { adopted, claimed, reaped } = this.#deps.cluster.takenOver;
    return { adopted, claimed, reaped, stolen: this.#sharing?.stolen ?? 0, handedOver: this.#ownership.handedOver };
  }

  /** Begins the lease, before clients and Islands are let in. @throws {ServiceError} `storage_unavailable`; then it may be called again. */
  async start(): Promise<void> {
    await this.#ownership.start();
    const others = this.#ownership.peerAddresses;
    if (this.#deps.hasBus || others.length === 0) return;
    const text =
      "Other coordinators have leases in this database, and this one has no bus: it shares no work, output or limits with them. Give all of them the same bus";
    this.#deps.log.warn({ others }, text);
  }

  /** Shares work from now on, and takes over what others leave. */
  share(dispatcher: SharingDispatcher, steps: TakeOverDeps["steps"]): void {
    const { bus, clock, cluster, log, leaseMs, scheduler } = this.#deps;
    const { members, mover } = this.#ownership;
    const schedule: WorkSharingDeps["schedule"] = (event) => dispatcher.schedule(event);
    const sharing: WorkSharingDeps = { bus, members, mover, work: scheduler.shared, schedule, clock, log };
    this.#sharing = new WorkSharing(sharing);
    this.#outlooks = new RemoteOutlooks({ bus, members, here: (kind) => dispatcher.outlookFor(kind) });
    this.#takeOver = new TakeOver({ members, cluster, clock, log, settleMs: 2 * leaseMs, steps });
    this.#takeOver.start();
  }

  /** What the other coordinators said last of a kind of work; null before work is shared. */
  elsewhere(kind: WorkKind): Elsewhere | null {
    return this.#sharing?.elsewhere(kind) ?? null;
  }

  /** Whether Islands of the other coordinators may run jobs of a kind. Null for each that does not respond. */
  async outlooksFor(kind: WorkKind): Promise<readonly (Outlook | null)[]> {
    return this.#outlooks === null ? [null] : this.#outlooks.ask(kind);
  }

  /** Islands of accounts at other coordinators, which learn of those that are `here`. */
  shareIslands(here: ConnectedIslands, availability: (accountId: string) => unknown): IslandsElsewhere {
    const { bus, log } = this.#deps;
    this.#islands = new RemoteIslands({ bus, members: this.#ownership.members, here, availability, log });
    return this.#islands;
  }

  /** Changes for accounts reach their listeners at all coordinators from now on. */
  shareEvents(events: AccountEvents): void {
    const { bus, clock } = this.#deps;
    shareEvents(events, bus, this.#ownership.members, clock);
  }

  /** Questions of operators to the other coordinators, and what this one answers them. */
  shareQuestions(answer: (question: unknown) => unknown): RemoteQuestions {
    const { bus, log } = this.#deps;
    this.#questions = new RemoteQuestions({ bus, members: this.#ownership.members, answer, log });
    return this.#questions;
  }

  /** See `WorkSharing.mayRunElsewhere`. */
  mayRunElsewhere(kind: WorkKind): boolean {
    return this.#sharing?.mayRunElsewhere(kind) === true;
  }

  /** Waiting jobs by Cargo, here and at the other coordinators, as those said last. */
  queuedDemand(): ReadonlyMap<string, number> {
    const demand = new Map(this.#deps.scheduler.queuedDemand());
    for (const [slug, jobs] of this.#sharing?.waitingElsewhere() ?? [])
      demand.set(slug, (demand.get(slug) ?? 0) + jobs);
    return demand;
  }

  /** Others learn where this coordinator is reached. */
  setAddress(address: string): void {
    this.#ownership.members.setAddress(address);
  }

  /** Cancels the unfinished jobs of an account, whichever coordinator has them. */
  endJobsOf(accountId: string): Promise<void> {
    return this.#endings.end(accountId);
  }

  /** A Cargo was changed here. Resolves when the others know. */
  tellCatalogChange(): Promise<void> {
    return this.#catalogChanges.tell();
  }

  /**
   * The first half of an orderly stop, while Islands and clients are still here. Resolves with where the Islands may go, at the latest when
   * `signal` aborts.
   */
  async handOver(signal: AbortSignal): Promise<readonly string[]> {
    const sharing = this.#sharing;
    await abortable(sharing?.close() ?? Promise.resolve(), signal).catch(() => undefined);
    await this.#ownership.handOverWaiting(() => sharing?.freestPeer(), signal);
    return this.#ownership.peerAddresses;
  }

  /** Nothing is taken over any more. Before what its steps use is closed. */
  async closeTakeOver(): Promise<void> {
    await this.#takeOver?.close();
    this.#endings.close();
    this.#catalogChanges.close();
    this.#islands?.close();
    this.#questions?.close();
    this.#outlooks?.close();
  }

  /** The second half: Islands and clients have gone. What is left is anybody's. Before bus and store close. */
  async leave(): Promise<void> {
    this.quota.close();
    this.#uptime.close();
    this.#sessions.close();
    await this.#ownership.leave();
  }
}
