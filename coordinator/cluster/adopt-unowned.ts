import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Peers } from "./peers.ts";

/** Interval of runs while there may be more work to adopt. */
const REPEAT_MS = 5_000;

/**
 * Adopts the work of dead coordinators other than jobs: webhook deliveries, stored responses and removals. Runs when a
 * coordinator leaves, and repeats until a survivor must have found it dead. It runs after a storage outage as well,
 * when a lost reply may have given work to this coordinator.
 * @param steps functions by name, which the log shows. Each adopts one kind of work, and may be called repeatedly
 * @param settleMs time within which a coordinator is found dead: twice the lease time
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
  /** True if another run must follow the current one. */
  let isWanted = false;
  let untilMs = -Infinity;
  let timer: Timer | null = null;
  let isClosed = false;
  function start(): void {
    untilMs = clock.monotonicMs() + settleMs;
    run();
  }

  function run(): void {
    timer?.cancel();
    timer = null;
    isWanted = !isClosed;
    if (running !== null || isClosed) return;
    running = runWanted().finally(() => (running = null));
  }

  async function runWanted(): Promise<void> {
    isWanted = false;
    const isDone = await runSteps();
    if (isWanted) return runWanted();
    if (isClosed || (isDone && clock.monotonicMs() >= untilMs)) return;
    timer = clock.schedule(REPEAT_MS, run);
  }

  async function runSteps(): Promise<boolean> {
    let isDone = true;
    for (const [step, runStep] of Object.entries(steps)) {
      if (isClosed) break;
      try {
        await runStep();
      } catch (error) {
        isDone = false;
        const isExpected = error instanceof ServiceError && error.code === "shutting_down";
        if (!isExpected) log.error({ err: error, step }, "Could not adopt the work of a peer");
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
    /** Runs all steps in the background, now and until `settleMs` has passed. */
    start,
    async close(): Promise<void> {
      isClosed = true;
      isWanted = false;
      for (const stop of stops) stop();
      timer?.cancel();
      await running;
    },
  };
}
