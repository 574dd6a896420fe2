import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Peers } from "./peers.ts";

/** Between two runs, while there may be more to take over. */
const AGAIN_MS = 5_000;

/**
 * Takes over what coordinators that are gone were to do beside their jobs: deliver webhooks, store answers, complete removals. At the
 * start, and whenever one is gone; for a while, because its work is unowned only when a survivor has found it dead. Of several who try,
 * the store gives each piece of work to one. And when storage was away: an answer that was lost may have given work to this coordinator.
 * @param steps each takes over one kind of work. By name, for the log; may be called again.
 * @param settleMs within this time after a lease is over, the coordinator is found dead: twice the time of a lease.
 */
export function adoptUnowned(
  peers: Pick<Peers, "live" | "onChange">,
  cluster: Pick<ClusterStore, "onReturn">,
  steps: Readonly<Record<string, () => Promise<unknown>>>,
  settleMs: number,
  { clock, log }: { readonly clock: Pick<Clock, "monotonicMs" | "schedule">; readonly log: Pick<Logger, "error"> },
) {
  const liveIdsNow = (): ReadonlySet<string> => new Set(peers.live.map(({ id }) => id));
  let known = liveIdsNow();
  let running: Promise<void> | null = null;
  let isWanted = false;
  let untilMs = -Infinity;
  let again: Timer | null = null;
  let isClosed = false;

  /** Runs all steps in the background, now and for a while. */
  function start(): void {
    untilMs = clock.monotonicMs() + settleMs;
    run();
  }

  function run(): void {
    again?.cancel();
    again = null;
    isWanted = !isClosed;
    if (running !== null || isClosed) return;
    running = runWanted().finally(() => (running = null));
  }

  async function runWanted(): Promise<void> {
    isWanted = false;
    const isDone = await runSteps();
    if (isWanted) return runWanted();
    if (isClosed || (isDone && clock.monotonicMs() >= untilMs)) return;
    again?.cancel();
    again = clock.schedule(AGAIN_MS, run);
  }

  /** False if one failed. */
  async function runSteps(): Promise<boolean> {
    let isDone = true;
    for (const [step, runStep] of Object.entries(steps)) {
      if (isClosed) break;
      try {
        await runStep();
      } catch (error) {
        isDone = false;
        const isExpected = error instanceof ServiceError && error.code === "shutting_down";
        if (!isExpected) log.error({ err: error, step }, "Taking over what another coordinator left failed");
      }
    }
    return isDone;
  }

  const stops = [
    peers.onChange(() => {
      const before = known;
      known = liveIdsNow();
      if ([...before].some((id) => !known.has(id))) start();
    }),
    cluster.onReturn(start),
  ];

  return {
    start,
    /** Resolves when no step is in flight. */
    async close(): Promise<void> {
      isClosed = true;
      isWanted = false;
      for (const stop of stops) stop();
      again?.cancel();
      await running;
    },
  };
}
