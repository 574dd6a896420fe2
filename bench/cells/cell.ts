import { Scheduler } from "../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEvent, WaitingJob } from "../../coordinator/scheduler/events.ts";
import type { Random } from "../../test/support/random.ts";
import type { Fleet } from "./fleet.ts";
import { sampleMs, type Latencies, type Latency } from "./latency.ts";
import { WAIT_LIMIT_MS, type Observer } from "./observer.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { Workload } from "./workload.ts";

export interface CellDeps {
  readonly clock: VirtualClock;
  readonly fleet: Fleet;
  readonly workload: Workload;
  readonly observer: Observer;
  readonly latencies: Latencies;
  readonly random: Random;
}

/** A simulated coordinator: the real scheduler, with job durations from the workload. */
export class Cell {
  readonly id: string;
  readonly scheduler: Scheduler;
  readonly #deps: CellDeps;
  readonly #waiting = new Set<string>();

  constructor(id: string, deps: CellDeps) {
    this.id = id;
    this.#deps = deps;
    const { fleet, random } = deps;
    const cargos = new Map(fleet.cargos.map(({ manifest }) => [manifest.slug, manifest]));
    this.scheduler = new Scheduler(
      (slug) => cargos.get(slug),
      0.5,
      0.02,
      1_000,
      () => random.next(),
    );
  }

  /** Adds an Island that already runs `residualsMs.length` jobs, each with that remaining duration. */
  raise(island: number, residualsMs: readonly number[]): void {
    const { fleet, observer, clock } = this.#deps;
    observer.slotsCame(island, fleet.slotsOf(island) - residualsMs.length);
    this.step({ kind: "island_up", island: fleet.info(island), busy: residualsMs.length });
    for (const residualMs of residualsMs) clock.after(residualMs, () => this.#free(island, "before"));
  }

  submit(job: number): void {
    this.#deps.observer.submitted(job);
    this.#enqueue(job);
  }

  /** Transfers waiting jobs to another coordinator. Resolves with the jobs that were still waiting here. */
  async transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
    if (toId === this.id) throw new Error(`${toId} transfers jobs to itself`);
    const own = jobIds.filter((id) => this.#waiting.delete(id));
    for (const jobId of own) this.step({ kind: "job_gone", jobId });
    await this.#take(this.#deps.latencies.transfer);
    return own;
  }

  /** Enqueues jobs that another coordinator transferred to this one. */
  async adopt(jobIds: readonly string[]): Promise<void> {
    await this.#take(this.#deps.latencies.adopt);
    for (const id of jobIds) {
      this.#deps.observer.moved(indexOf(id));
      this.#enqueue(indexOf(id));
    }
  }

  step(event: SchedulerEvent): void {
    const { clock, observer, workload } = this.#deps;
    for (const effect of this.scheduler.step(event, clock.monotonicMs())) {
      if (effect.kind !== "assign") continue;
      const [job, island] = [indexOf(effect.jobId), indexOf(effect.islandId)];
      if (!this.#waiting.delete(effect.jobId)) throw new Error(`${effect.jobId} must be waiting at ${this.id}`);
      observer.begun(job, island);
      clock.after(workload.runMs[job] as number, () => {
        observer.ended(job);
        this.#free(island, effect.jobId);
      });
    }
  }

  #free(island: number, jobId: string): void {
    this.#deps.observer.slotFreed(island);
    this.step({ kind: "slot_freed", islandId: `isle_${island}`, jobId });
  }

  #enqueue(job: number): void {
    const waiting = this.#waitingJob(job);
    this.#waiting.add(waiting.id);
    this.step({ kind: "job_waiting", job: waiting });
  }

  #waitingJob(job: number): WaitingJob {
    const { workload, fleet } = this.#deps;
    const account = workload.account[job] as number;
    return {
      id: `job_${job}`,
      accountId: `user_${account}`,
      share: workload.shareOf(account),
      slug: fleet.cargos[workload.cargo[job] as number]?.manifest.slug ?? "",
      jobClass: workload.isChat[job] === 1 ? "chat" : "batch",
      onlyIslandsOf: null,
      priority: workload.priority[job] as number,
      createdAtMs: workload.arrivalMs[job] as number,
      waitLimitMs: WAIT_LIMIT_MS,
      avoidIslands: [],
    };
  }

  #take(latency: Latency): Promise<void> {
    const { clock, random } = this.#deps;
    return clock.sleep(sampleMs(latency, random));
  }
}

/** Returns the number of a job id: 7 for `job_7`. */
const indexOf = (id: string): number => Number(id.slice(id.indexOf("_") + 1));
