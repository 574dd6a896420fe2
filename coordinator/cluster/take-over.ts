import type { Unsubscribe } from "../bus/bus.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Members } from "./members.ts";

/** Between two runs, while there may be more to take over. */
const AGAIN_MS = 5_000;

export interface TakeOverDeps {
  readonly members: Pick<Members, "living" | "onChange">;
  readonly cluster: Pick<ClusterStore, "onReturn">;
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  /** Within this time after a lease is over, the coordinator is found dead: twice the time of a lease. */
  readonly settleMs: number;
  readonly log: Pick<Logger, "error">;
  /** Each takes over one kind of work of coordinators that are gone. By name, for the log; may be called again. */
  readonly steps: Readonly<Record<string, () => Promise<unknown>>>;
}

/**
 * Takes over what coordinators that are gone were to do beside their jobs: deliver webhooks, store answers, complete removals. At the
 * start, and whenever one is gone; for a while, because its work is anybody's only when a survivor has found it dead. Of several who try,
 * the store gives each piece of work to one. And when storage was away: an answer that was lost may have given work to this coordinator.
 */
export class TakeOver {
  readonly #deps: TakeOverDeps;
  readonly #unsubscribe: readonly Unsubscribe[];
  #known: ReadonlySet<string>;
  #underWay: Promise<void> | null = null;
  #isWanted = false;
  #untilMs = -Infinity;
  #again: Timer | null = null;
  #isClosed = false;

  constructor(deps: TakeOverDeps) {
    this.#deps = deps;
    this.#known = this.#living();
    this.#unsubscribe = [deps.members.onChange(() => this.#look()), deps.cluster.onReturn(() => this.start())];
  }

  /** Runs all steps in the background, now and for a while. */
  start(): void {
    this.#untilMs = this.#deps.clock.monotonicMs() + this.#deps.settleMs;
    this.#run();
  }

  #run(): void {
    this.#again?.cancel();
    this.#again = null;
    this.#isWanted = !this.#isClosed;
    if (this.#underWay !== null || this.#isClosed) return;
    this.#underWay = this.#runWanted().finally(() => (this.#underWay = null));
  }

  /** Resolves when no step is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isWanted = false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#again?.cancel();
    await this.#underWay;
  }

  #look(): void {
    const before = this.#known;
    this.#known = this.#living();
    if ([...before].some((id) => !this.#known.has(id))) this.start();
  }

  async #runWanted(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const isDone = await this.#runSteps();
      const { clock } = this.#deps;
      if (this.#isClosed || (isDone && clock.monotonicMs() >= this.#untilMs)) continue;
      this.#again?.cancel();
      this.#again = clock.schedule(AGAIN_MS, () => this.#run());
    }
  }

  /** False if one failed. */
  async #runSteps(): Promise<boolean> {
    let isDone = true;
    for (const [step, run] of Object.entries(this.#deps.steps)) {
      if (this.#isClosed) break;
      try {
        await run();
      } catch (error) {
        isDone = false;
        const isExpected = error instanceof ServiceError && error.code === "shutting_down";
        if (!isExpected) this.#deps.log.error({ err: error, step }, "Taking over what another coordinator left failed");
      }
    }
    return isDone;
  }

  #living(): ReadonlySet<string> {
    return new Set(this.#deps.members.living.map(({ id }) => id));
  }
}
