import { Packr } from "msgpackr";
import { LocalBus } from "../../../../coordinator/bus/local-bus.ts";
import type { Peers } from "../../../../coordinator/cluster/peers.ts";
import { shareWork, type WorkSharing } from "../../../../coordinator/cluster/work-sharing.ts";
import { Scheduler } from "../../../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEvent, SchedulerIsland, WaitingJob } from "../../../../coordinator/scheduler/events.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { makeCargo, makeIsland, makeJob, SCHEDULER_RULES } from "../../scheduler/builders.ts";
import { peerOf, peersOn } from "../peers-on.ts";

/** Duration of a commit. */
const COMMIT_MS = 3;
const STEP_MS = 5;

interface Start {
  readonly jobId: string;
  readonly islandId: string;
  readonly at: string;
  readonly atMs: number;
}

/** Scheduler of a coordinator, with the ids of its waiting jobs. */
export class SharingCoordinator {
  readonly id: string;
  readonly scheduler: Scheduler;
  readonly waiting = new Map<string, WaitingJob>();
  readonly islands = new Map<string, SchedulerIsland>();
  readonly peers: Peers;
  readonly sharing: WorkSharing;
  readonly #network: SharingNetwork;
  /** Number of jobs that came to this coordinator, by previous owner. */
  taken = 0;
  reconciled = 0;

  constructor(id: string, network: SharingNetwork) {
    this.id = id;
    this.#network = network;
    const { bus, clock, catalog } = network;
    const mayRunElsewhere: Scheduler["mayRunElsewhere"] = (kind) => this.sharing.mayRunElsewhere(kind);
    this.scheduler = new Scheduler((slug) => catalog.get(slug), ...SCHEDULER_RULES, mayRunElsewhere);
    const mover = {
      transfer: (jobIds: readonly string[], toId: string) => this.#transfer(jobIds, toId),
      adopt: async (jobIds: readonly string[]) => {
        this.taken += jobIds.length;
        if (network.takeInMs > 0) await clock.sleep(network.takeInMs);
        for (const jobId of jobIds) this.#adopt(jobId);
        return jobIds.length;
      },
      reconcile: async () => {
        this.reconciled += 1;
        for (const [jobId, { ownerId }] of network.stored) if (ownerId === this.id) this.#adopt(jobId);
      },
    };
    const log = {
      warn: (facts: object, message: string) => void network.warnings.push(`${message} ${JSON.stringify(facts)}`),
    };
    this.peers = peersOn(bus, id, network.live, { clock, log });
    const schedule = (event: SchedulerEvent): void => this.step(event);
    this.sharing = shareWork(this.peers, mover, this.scheduler.shared, schedule, { clock, log });
  }

  up(override: Partial<SchedulerIsland> = {}, busy = 0): void {
    const island = makeIsland({ id: `${this.id}-isle`, ...override });
    this.islands.set(island.id, island);
    this.step({ kind: "island_up", island, busy });
  }

  submit(override: Partial<WaitingJob> = {}): void {
    const job = makeJob(override);
    this.#network.stored.set(job.id, { job, ownerId: this.id });
    this.#wait(job);
  }

  free(islandId: string, jobId: string): void {
    this.step({ kind: "slot_freed", islandId, jobId });
  }

  /** Wakes the scheduler after an event. */
  wake(): void {
    const { nextWakeMs } = this.scheduler;
    if (nextWakeMs !== null && nextWakeMs <= this.#network.clock.monotonicMs()) this.step({ kind: "time_passed" });
  }

  step(event: SchedulerEvent): void {
    for (const effect of this.scheduler.step(event, this.#network.clock.monotonicMs())) {
      if (effect.kind !== "assign") continue;
      const { jobId, islandId } = effect;
      this.waiting.delete(jobId);
      if (!this.#network.stored.delete(jobId)) throw new Error(`${jobId} starts twice`);
      this.#network.starts.push({ jobId, islandId, at: this.id, atMs: this.#network.clock.monotonicMs() });
      this.#network.onStart(this, islandId, jobId);
    }
  }

  #wait(job: WaitingJob): void {
    this.waiting.set(job.id, job);
    this.step({ kind: "job_waiting", job });
  }

  #adopt(jobId: string): void {
    const stored = this.#network.stored.get(jobId);
    if (stored?.ownerId === this.id && !this.waiting.has(jobId)) this.#wait(stored.job);
  }

  async #transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
    const { stored, clock, faults } = this.#network;
    const jobs = jobIds.flatMap((id) => {
      const job = faults.fixed.has(id) ? undefined : this.waiting.get(id);
      if (job === undefined) return [];
      this.waiting.delete(id);
      this.step({ kind: "job_gone", jobId: id });
      return [job];
    });
    await clock.sleep(COMMIT_MS);
    if (faults.storage) {
      for (const job of jobs) this.#wait(job);
      throw new Error("Storage is away");
    }
    for (const job of jobs) stored.set(job.id, { job, ownerId: toId });
    if (faults.answers) throw new Error("The answer is lost");
    return jobs.map(({ id }) => id);
  }
}

/** Several coordinators on one bus, with storage that knows the owner of each waiting job. */
export class SharingNetwork {
  readonly clock = new ManualClock();
  readonly bus = new LocalBus();
  readonly catalog: ReadonlyMap<string, CargoManifest>;
  readonly coordinators: readonly SharingCoordinator[];
  readonly stored = new Map<string, { readonly job: WaitingJob; readonly ownerId: string }>();
  readonly starts: Start[] = [];
  readonly warnings: string[] = [];
  readonly published: unknown[] = [];
  requests = 0;
  /**
   * `storage`: hand-overs fail. `answers`: hand-overs succeed, but the reply is lost. `fixed`: jobs that do not move.
   */
  readonly faults = { storage: false, answers: false, fixed: new Set<string>() };
  /** Time to read jobs that arrived. */
  takeInMs = 0;
  onStart: (coordinator: SharingCoordinator, islandId: string, jobId: string) => void = () => undefined;
  live: readonly string[];

  constructor(count: number, cargos: readonly CargoManifest[] = [makeCargo()]) {
    this.catalog = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
    this.live = Array.from({ length: count }, (_, index) => `c${index + 1}`);
    this.#countMessages();
    this.coordinators = this.live.map((id) => new SharingCoordinator(id, this));
  }

  setLive(ids: readonly string[]): void {
    this.live = ids;
    for (const { peers } of this.coordinators) peers.setLive(ids.map(peerOf));
  }

  /** Advances time step by step, with all messages and promises that are due. */
  async pass(ms: number, afterStep: () => void = () => undefined): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.clock.advance(STEP_MS);
      for (const each of this.coordinators) each.wake();
      await new Promise((resolve) => setImmediate(resolve));
      afterStep();
    }
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.coordinators.map(({ sharing }) => sharing.close()));
    await this.pass(2 * COMMIT_MS);
    await closed;
  }

  /** Counts messages, and serializes them as they are between processes. */
  #countMessages(): void {
    const { bus } = this;
    const packr = new Packr({ useRecords: false });
    const copy = (message: unknown): unknown => packr.unpack(packr.pack(message));
    const [publish, request] = [bus.publish.bind(bus), bus.request.bind(bus)];
    bus.publish = (subject, message) => publish(subject, copy(message));
    bus.request = async (subject, message) => {
      this.requests += 1;
      return copy(await request(subject, copy(message)));
    };
    bus.subscribe("status", (message) => this.published.push(message));
  }
}
