import type { Timer } from "../../shared/clock.ts";
import { totalVramBytes } from "../../shared/hardware.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { Hello, IslandState } from "../../shared/protocol/from-island.ts";
import type { SchedulerIsland } from "../scheduler/scheduler.ts";

/** The way to an Island's agent while it is connected. */
export interface IslandLink {
  /** False once the socket is closing: whatever is sent is lost. */
  readonly isOpen: boolean;
  send(frame: FromCoordinator): void;
  /** Says goodbye and closes. `retryAfterMs` null: the agent should not come back by itself. */
  dismiss(reason: string, retryAfterMs: number | null): void;
}

/** An Island that is connected, or was until less than the grace ago. Its only writer is the dispatcher. */
export class Island {
  readonly hostId: string;
  /** Account of the owner, who earns. */
  readonly accountId: string;
  /** Null while the Island is away and its jobs wait for it to come back. */
  link: IslandLink | null = null;
  /** Ends the grace. */
  grace: Timer | null = null;
  /** Attempts that take a slot, by job: also those that were cancelled and are not yet confirmed as stopped. */
  readonly holding = new Map<string, number>();
  rttMs: number | null = null;
  #report: Omit<Hello, "state" | "held" | "type"> | null = null;
  #state: IslandState | null = null;

  constructor(hostId: string, accountId: string) {
    this.hostId = hostId;
    this.accountId = accountId;
  }

  greet(hello: Hello): void {
    this.#report = hello;
    this.#state = hello.state;
  }

  update(state: IslandState): void {
    this.#state = state;
  }

  setDraining(draining: boolean): void {
    if (this.#report !== null) this.#report = { ...this.#report, draining };
  }

  get state(): IslandState | null {
    return this.#state;
  }

  /** What the scheduler decides by. @throws before the first hello. */
  view(): SchedulerIsland {
    const report = this.#report;
    const state = this.#state;
    if (report === null || state === null) throw new Error(`Island ${this.hostId} has not said hello`);
    return {
      id: this.hostId,
      accountId: this.accountId,
      runtimes: report.runtimes.map((runtime) => runtime.type),
      ramBytes: report.hardware.ramBytes,
      vramBytes: totalVramBytes(report.hardware),
      slots: report.slots,
      draining: report.draining,
      cachedModels: state.cachedModels.map((model) => model.key),
      loaded: state.loaded,
      downloads: state.downloads,
      cpuLoad: state.cpuLoad,
      rttMs: this.rttMs,
    };
  }
}
