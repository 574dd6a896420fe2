import type { Timer } from "../../shared/clock.ts";
import { totalVramBytes } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { Hello, IslandState } from "../../shared/protocol/from-island.ts";
import type { SchedulerIsland } from "../scheduler/scheduler.ts";
import type { AttemptId, IslandLink, IslandView } from "./island.ts";

/** The state behind an {@link IslandView}. Only `IslandRegistry` has it. */
export class MutableIsland implements IslandView {
  readonly hostId: string;
  readonly accountId: string;
  /** Null while the Island is away and its jobs wait for it to come back. */
  link: IslandLink | null = null;
  /** Ends the grace; null while the Island is connected. */
  grace: Timer | null = null;
  /** Attempts that take a slot, by job. One that was cancelled takes its slot until the Island confirms. */
  readonly slots = new Map<string, number>();
  /** Cancelled attempts, by job, each with the limit within which the Island must confirm. */
  readonly stopping = new Map<string, Timer>();
  /** Jobs whose cancelled attempts it has not confirmed within that limit. */
  readonly ignored = new Set<string>();
  /** Null until the first round trip was measured. */
  rttMs: number | null = null;
  #report: Pick<Hello, "runtimes" | "hardware" | "slots" | "draining" | "policy"> | null = null;
  #state: IslandState | null = null;

  constructor(hostId: string, accountId: string) {
    this.hostId = hostId;
    this.accountId = accountId;
  }

  get isConnected(): boolean {
    return this.link !== null;
  }

  attempts(): AttemptId[] {
    return [...this.slots].map(([jobId, attempt]) => ({ jobId, attempt }));
  }

  get downloads(): IslandState["downloads"] {
    return this.#state?.downloads ?? [];
  }

  get policy(): OwnerPolicy | undefined {
    return this.#report?.policy;
  }

  /** The Island confirmed that an attempt is over, or nobody waits for that any more. */
  forgetStop(jobId: string): void {
    this.stopping.get(jobId)?.cancel();
    this.stopping.delete(jobId);
    this.ignored.delete(jobId);
  }

  get isBusy(): boolean {
    return this.slots.size > 0;
  }

  has({ jobId, attempt }: AttemptId): boolean {
    return this.slots.get(jobId) === attempt;
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

  /** What the scheduler decides by. @throws before the first `hello`. */
  facts(): SchedulerIsland {
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
      policy: report.policy,
      cachedModels: state.cachedModels.map((model) => model.key),
      loaded: state.loaded,
      downloads: state.downloads,
      cpuLoad: state.cpuLoad,
      rttMs: this.rttMs,
    };
  }
}
