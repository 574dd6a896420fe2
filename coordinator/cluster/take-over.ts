import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Peers } from "./peers.ts";

/** Between two runs, while there may be more to take over. */
const AGAIN_MS = 5_000;

/**
 * Takes over what coordinators that are gone were to do beside their jobs: deliver webhooks, store answers, complete removals. At the
 * start, and whenever one is gone; for a while, because its work is anybody's only when a survivor has found it dead. Of several who try,
 * the store gives each piece of work to one. And when storage was away: an answer that was lost may have given work to this coordinator.
 */
export class TakeOver {
  readonly #peers: Pick<Peers, "living" | "onChange">;
  readonly #steps: Readonly<Record<string, () => Promise<unknown>>>;
  readonly #settleMs: number;
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #log: Pick<Logger, "error">;
  readonly #unsubscribe: readonly (() => void)[];
  #known: ReadonlySet<string>;
  #underWay: Promise<void> | null = null;
  #isWanted = false;
  #untilMs = -Infinity;
  #again: Timer | null = null;
  #isClosed = false;

  /**
   * @param steps each takes over one kind of work of coordinators that are gone. By name, for the log; may be called again.
   * @param settleMs within this time after a lease is over, the coordinator is found dead: twice the time of a lease.
   */
  constructor(
    peers: Pick<Peers, "living" | "onChange">,
    cluster: Pick<ClusterStore, "onReturn">,
    steps: Readonly<Record<string, () => Promise<unknown>>>,
    settleMs: number,
    env: { readonly clock: Pick<Clock, "monotonicMs" | "schedule">; readonly log: Pick<Logger, "error"> },
  ) {
    this.#peers = peers;
    this.#steps = steps;
    this.#settleMs = settleMs;
    this.#clock = env.clock;
    this.#log = env.log;
    this.#known = this.#living();
    this.#unsubscribe = [peers.onChange(() => this.#look()), cluster.onReturn(() => this.start())];
  }

  /** Runs all steps in the background, now and for a while. */
  start(): void {
    this.#untilMs = this.#clock.monotonicMs() + this.#settleMs;
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
      if (this.#isClosed || (isDone && this.#clock.monotonicMs() >= this.#untilMs)) continue;
      this.#again?.cancel();
      this.#again = this.#clock.schedule(AGAIN_MS, () => this.#run());
    }
  }

  /** False if one failed. */
  async #runSteps(): Promise<boolean> {
    let isDone = true;
    for (const [step, run] of Object.entries(this.#steps)) {
      if (this.#isClosed) break;
      try {
        await run();
      } catch (error) {
        isDone = false;
        const isExpected = error instanceof ServiceError && error.code === "shutting_down";
        if (!isExpected) this.#log.error({ err: error, step }, "Taking over what another coordinator left failed");
      }
    }
    return isDone;
  }

  #living(): ReadonlySet<string> {
    return new Set(this.#peers.living.map(({ id }) => id));
  }
}
