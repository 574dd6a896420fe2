import type { Outcome } from "./simulation.ts";
import type { Workload } from "./workload.ts";

/** Metrics of a run with several coordinators, compared with one scheduler that has the same jobs and all Islands. */
export interface CellMetrics {
  readonly coordinators: number;
  /** Times that the jobs waited. */
  readonly waitMs: Quantiles;
  /** Times that the jobs of accounts with few jobs waited. */
  readonly smallWaitMs: Quantiles;
  /** Longest part of each job's wait in which one suitable Island had a free slot throughout. */
  readonly besideMs: Quantiles;
  /** Number of jobs that waited for more than a second while a suitable Island had a free slot. */
  readonly besideOverSecond: number;
  /** Total part of each job's wait in which any suitable slot was free. */
  readonly idleWaitMs: Quantiles;
  /**
   * Share of jobs that started at a coordinator other than the one they were submitted to, followed by the share of
   * jobs that moved more than once.
   */
  readonly stolen: number;
  readonly movedAgain: number;
  /** Share of the slot time in the window that went to other accounts than it would with one scheduler. */
  readonly misplaced: number;
  /**
   * Ratio of an account's slot time in the window to its slot time with one scheduler, for accounts with much slot
   * time: percentiles 1 and 99.
   */
  readonly leastServed: number;
  readonly mostServed: number;
  /** Share of starts before an earlier due job of the same account, class and Cargo. */
  readonly outOfOrder: number;
  /** Difference between a job's start time and its start time with one scheduler, for jobs that waited. */
  readonly displacedMs: Quantiles;
  /** Messages published per second by all coordinators. */
  readonly publishedPerS: number;
  readonly requestsPerS: number;
  /** Messages received per second by one coordinator. */
  readonly receivedPerS: number;
  readonly kbPerS: number;
}

interface Quantiles {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Maximum number of jobs of a small account. */
const SMALL_ACCOUNT_JOBS = 30;
/**
 * Minimum slot time of an account for a comparison. With less slot time, the end of a single run dominates the result.
 */
const MIN_COMPARED_MS = 600_000;

export function computeCellMetrics(
  coordinators: number,
  workload: Workload,
  run: Outcome,
  ideal: Outcome,
): CellMetrics {
  const { observer, traffic, tookMs } = run;
  const { jobs, arrivalMs, account, jobsOf } = workload;
  const waitMs = observer.startMs.map((startMs, job) => startMs - (arrivalMs[job] as number));
  const smallWaitMs = waitMs.filter((_, job) => (jobsOf[account[job] as number] as number) <= SMALL_ACCOUNT_JOBS);
  const displacedMs = observer.startMs
    .map((startMs, job) => Math.abs(startMs - (ideal.observer.startMs[job] as number)))
    .filter((_, job) => (waitMs[job] as number) > 0 || waited(ideal, workload, job));
  const seconds = tookMs / 1_000;
  const each = coordinators * seconds;
  return {
    coordinators,
    waitMs: quantilesOf(waitMs),
    smallWaitMs: quantilesOf(smallWaitMs),
    besideMs: quantilesOf(observer.besideMs),
    besideOverSecond: observer.besideMs.filter((ms) => ms > 1_000).length,
    idleWaitMs: quantilesOf(observer.idleWaitMs),
    stolen: observer.moves.filter((moves) => moves > 0).length / jobs,
    movedAgain: observer.moves.filter((moves) => moves > 1).length / jobs,
    ...shareFigures(observer.serviceMs, ideal.observer.serviceMs),
    outOfOrder: observer.outOfOrder / jobs,
    displacedMs: quantilesOf(displacedMs),
    publishedPerS: traffic.published / seconds,
    requestsPerS: traffic.requests / seconds,
    // A request is received by one coordinator, and its reply by another.
    receivedPerS: (traffic.delivered + 2 * traffic.requests) / each,
    kbPerS: traffic.bytes / 1_000 / each,
  };
}

const waited = ({ observer }: Outcome, { arrivalMs }: Workload, job: number): boolean =>
  (observer.startMs[job] as number) > (arrivalMs[job] as number);

function shareFigures(serviceMs: Float64Array, idealMs: Float64Array) {
  let [sum, apart] = [0, 0];
  const ratios: number[] = [];
  for (const [account, ideal] of idealMs.entries()) {
    const own = serviceMs[account] as number;
    sum += ideal;
    apart += Math.abs(own - ideal);
    if (ideal >= MIN_COMPARED_MS) ratios.push(own / ideal);
  }
  const sorted = Float64Array.from(ratios).sort();
  return { misplaced: apart / 2 / sum, leastServed: at(sorted, 0.01), mostServed: at(sorted, 0.99) };
}

function quantilesOf(values: Float64Array): Quantiles {
  const sorted = values.slice().sort();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, sorted.length);
  return { mean, p50: at(sorted, 0.5), p99: at(sorted, 0.99), max: at(sorted, 1) };
}

/** Returns a quantile of sorted values; 0 if there is no value. */
function at(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
