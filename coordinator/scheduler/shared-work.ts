import type { CargoIslands } from "./cargo-islands.ts";
import type { IslandIndices } from "./island-indices.ts";
import type { JobKind } from "./job-queue.ts";
import type { OnlineIsland } from "./online-island.ts";
import { modelPlaceOf, type ModelPlace } from "./rank.ts";
import { OfferedSlots, workKeyOf, type OfferedIsland, type SlotOffer, type WorkKind } from "./slot-offer.ts";
import type { WaitingJobs } from "./waiting-jobs.ts";

export type { OfferedIsland, SlotOffer, WorkKind } from "./slot-offer.ts";

/** How much of a kind waits here, beside what there is to run it. */
export interface WorkLoad extends WorkKind {
  /** Waiting ones. */
  readonly jobs: number;
  /** Of those, at most ten of each account. */
  readonly pressing: number;
  /** Slots, free or not, of Islands that run it and are not paused. */
  readonly slots: number;
}

/** Jobs that one look for fitting ones may pass over, as they avoid what is offered. */
const MAX_PASSED = 64;

/** What waits here that another coordinator's Islands could run, and what is free here for jobs of others. */
export class SharedWork {
  readonly #waiting: WaitingJobs;
  readonly #indices: IslandIndices;
  readonly #islands: ReadonlyMap<string, OnlineIsland>;

  constructor(waiting: WaitingJobs, indices: IslandIndices, islands: ReadonlyMap<string, OnlineIsland>) {
    this.#waiting = waiting;
    this.#indices = indices;
    this.#islands = islands;
  }

  /** Of all Islands. The cost grows with their number. */
  get freeSlots(): number {
    let free = 0;
    for (const island of this.#islands.values()) if (!island.info.draining) free += island.freeSlots;
    return free;
  }

  /** Online ones, busy or not. */
  get islandCount(): number {
    return this.#islands.size;
  }

  /** Every kind of which jobs wait here. */
  waiting(): WorkLoad[] {
    const loads = new Map<string, WorkLoad>();
    for (const { kind, size, pressing } of this.#waiting.queues) {
      const { slug, onlyIslandsOf } = kind;
      const sum = loads.get(workKeyOf(kind)) ?? {
        slug,
        onlyIslandsOf,
        jobs: 0,
        pressing: 0,
        slots: this.slotsFor(kind),
      };
      loads.set(workKeyOf(kind), { ...sum, jobs: sum.jobs + size, pressing: sum.pressing + pressing });
    }
    return [...loads.values()];
  }

  /** As {@link waiting}, of one kind. */
  loadOf({ slug, onlyIslandsOf }: WorkKind): WorkLoad {
    const queues = this.#waiting.queuesOf(slug).filter(({ kind }) => kind.onlyIslandsOf === onlyIslandsOf);
    const jobs = queues.reduce((sum, { size }) => sum + size, 0);
    const pressing = queues.reduce((sum, queue) => sum + queue.pressing, 0);
    return { slug, onlyIslandsOf, jobs, pressing, slots: this.slotsFor({ slug, onlyIslandsOf }) };
  }

  /** Undefined if the job does not wait here. */
  kindOf(jobId: string): WorkKind | undefined {
    return this.#waiting.get(jobId)?.kind;
  }

  /** Slots, free or not, that run jobs of the kind. */
  slotsFor(kind: WorkKind): number {
    return this.#indexOf(kind)?.openSlots ?? 0;
  }

  /** Where the model is, of the best Island with a slot that is free for the kind; undefined if there is none. */
  freePlaceFor(kind: WorkKind): ModelPlace | undefined {
    const index = this.#indexOf(kind);
    const island = index?.best([]);
    return index === undefined || island === undefined ? undefined : modelPlaceOf(index.cargo, island.info);
  }

  /** The best Islands with free slots for some of `kinds`: about `slots` for each kind, and at most `maxIslands`. */
  offer(kinds: readonly WorkKind[], slots: number, maxIslands: number): SlotOffer {
    const indices = kinds.map((kind) => this.#indexOf(kind));
    const free = new Set(indices.flatMap((index) => index?.firstReady(slots) ?? []));
    const islands = [...free].slice(0, maxIslands).map((island): OfferedIsland => {
      const serves = indices.flatMap((index, place) => (index?.mayServe(island.id, []) === true ? [place] : []));
      return { id: island.id, accountId: island.info.accountId, slots: island.freeSlots, serves };
    });
    return { kinds, islands };
  }

  /**
   * Takes out the waiting jobs that start in the slots of another coordinator, in the order in which they would start here, at most
   * `maxJobs`. They compete here no longer, and their accounts have paid for them: `job_gone` must follow for those that moved, `job_stays`
   * for others. No more are taken than the slots can start.
   */
  takeFor(offer: SlotOffer, maxJobs: number): string[] {
    const slots = new OfferedSlots(offer);
    const passed = [];
    const taken: string[] = [];
    while (taken.length < maxJobs && passed.length < MAX_PASSED) {
      const job = this.#waiting.nextFor((kind) => slots.hasSlotFor(kind), []);
      if (job === undefined) break;
      if (slots.take(job, this.#hasNoIsland(job.kind))) {
        this.#waiting.lend(job);
        taken.push(job.id);
      } else {
        this.#waiting.setAside(job);
        passed.push(job);
      }
    }
    for (const job of passed) this.#waiting.readmit(job.id);
    return taken;
  }

  /** Takes out jobs of a kind that another coordinator is to have in its queues, as {@link takeFor} does. */
  takeNext({ slug, onlyIslandsOf }: WorkKind, maxJobs: number): string[] {
    const taken: string[] = [];
    while (taken.length < maxJobs) {
      const job = this.#waiting.nextFor((kind) => kind.slug === slug && kind.onlyIslandsOf === onlyIslandsOf, []);
      if (job === undefined) break;
      this.#waiting.lend(job);
      taken.push(job.id);
    }
    return taken;
  }

  /** No Island here is worth waiting for, and the job has waited for those of all coordinators. */
  #hasNoIsland(kind: JobKind): boolean {
    return !kind.isPatient && (this.#indexOf(kind)?.openOutside(kind.avoidIslands) ?? 0) === 0;
  }

  #indexOf(kind: WorkKind): CargoIslands | undefined {
    return this.#indices.of(kind, () => this.#waiting.queues);
  }
}
