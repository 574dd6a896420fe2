import { describe, expect, it } from "vitest";
import { fits } from "../../../../coordinator/scheduler/fit.ts";
import type { WaitingJob } from "../../../../coordinator/scheduler/events.ts";
import { Random } from "../../../support/random.ts";
import { soakRounds } from "../../../support/soak-rounds.ts";
import { GB, makeCargo, makeIsland } from "../../scheduler/builders.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing-network.ts";

const CARGOS = [2, 8, 24, 60].map((gb) => makeCargo({ slug: `needs-${gb}`, requiredRamBytes: gb * GB }));
const BOUND_MS = 1_000;
const STEP_MS = 5;
const RUN_MS = 10_000;

/**
 * A network in which jobs arrive in bursts, mostly at one coordinator, and Islands connect and disconnect, mostly at
 * another.
 */
class World {
  readonly network: SharingNetwork;
  readonly #random: Random;
  /** Time for which a fitting slot has been free anywhere, by waiting job. */
  readonly #idleMs = new Map<string, number>();
  longestMs = 0;
  #jobs = 0;
  #islands = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    // Every third network is large.
    this.network = new SharingNetwork(
      seed % 3 === 2 ? this.#random.between(12, 32) : this.#random.between(2, 6),
      CARGOS,
    );
    this.network.onStart = (coordinator, islandId, jobId) => {
      this.network.clock.schedule(this.#random.between(50, 3_000), () => coordinator.free(islandId, jobId));
    };
    for (const each of this.network.coordinators) if (this.#random.chance(0.7)) this.#raise(each);
  }

  async run(): Promise<void> {
    for (let passed = 0; passed < RUN_MS; passed += 500) {
      this.#happen();
      await this.network.pass(500, () => this.#look());
    }
    await this.network.close();
  }

  #happen(): void {
    const { coordinators } = this.network;
    const hot = this.#random.chance(0.5) ? coordinators[0] : this.#random.pick(coordinators);
    if (this.#random.chance(0.3)) this.#raise(this.#random.pick(coordinators));
    if (this.#random.chance(0.1)) this.#lower(this.#random.pick(coordinators));
    const burst = this.#random.between(0, coordinators.length + 2);
    for (let job = 0; job < burst; job += 1) (hot ?? this.#random.pick(coordinators)).submit(this.#newJob());
  }

  #newJob(): Partial<WaitingJob> {
    this.#jobs += 1;
    const accountId = `user_${this.#random.between(1, 4)}`;
    return {
      id: `job_${this.#jobs}`,
      accountId,
      slug: this.#random.pick(CARGOS).slug,
      jobClass: this.#random.pick(["chat", "batch"]),
      onlyIslandsOf: this.#random.chance(0.1) ? accountId : null,
      avoidIslands: this.#random.chance(0.2) ? [`isle-${this.#random.between(1, 5)}`] : [],
      priority: this.#random.pick([10, 50, 90]),
    };
  }

  #raise(coordinator: SharingCoordinator): void {
    this.#islands += 1;
    const id = `isle-${this.#islands}`;
    const ramBytes = this.#random.pick([4, 16, 32, 64]) * GB;
    coordinator.up(
      makeIsland({ id, ramBytes, slots: this.#random.between(1, 4), accountId: `user_${this.#random.between(1, 4)}` }),
    );
  }

  #lower(coordinator: SharingCoordinator): void {
    const [id] = coordinator.islands.keys();
    if (id === undefined) return;
    coordinator.islands.delete(id);
    coordinator.step({ kind: "island_down", islandId: id });
  }

  /** Inspects all coordinators at once. */
  #look(): void {
    for (const jobId of this.#idleMs.keys()) if (!this.network.stored.has(jobId)) this.#idleMs.delete(jobId);
    for (const { job } of this.network.stored.values()) {
      const idleMs = this.#hasFreeSlot(job) ? (this.#idleMs.get(job.id) ?? 0) + STEP_MS : 0;
      this.#idleMs.set(job.id, idleMs);
      this.longestMs = Math.max(this.longestMs, idleMs);
    }
  }

  /** Returns whether an Island that the job does not avoid has a free slot. */
  #hasFreeSlot({ slug, onlyIslandsOf, avoidIslands }: WaitingJob): boolean {
    const cargo = { ...makeCargo(this.network.catalog.get(slug)), onlyIslandsOf };
    return this.network.coordinators.some(({ islands, scheduler }) =>
      [...islands.values()].some((island) => {
        const isFree = scheduler.freeSlots(island.id) > 0 && !avoidIslands.includes(island.id);
        return isFree && fits(cargo, island) === true;
      }),
    );
  }
}

describe("WorkSharing in random networks", () => {
  it.each(Array.from({ length: soakRounds(30) }, (_, seed) => seed))(
    "never leaves a job waiting for a second while a fitting slot is free anywhere, seed %i",
    async (seed) => {
      const world = new World(seed);
      await world.run();
      expect(world.longestMs).toBeLessThanOrEqual(BOUND_MS);
      expect(world.network.warnings).toEqual([]);
      expect(world.network.starts.length).toBeGreaterThan(0);
    },
  );
});
