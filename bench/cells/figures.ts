import type { Outcome } from "./simulation.ts";
import type { Workload } from "./workload.ts";

/** What a run of several coordinators is like, beside one scheduler that has the same jobs and all Islands. */
export interface CellFigures {
  readonly coordinators: number;
  /** Of all jobs. */
  readonly waitMs: Quantiles;
  /** Of accounts with few jobs. */
  readonly smallWaitMs: Quantiles;
  /** The longest part of the wait in which one and the same Island that fits had a free slot, of all jobs. */
  readonly besideMs: Quantiles;
  /** Jobs that waited for more than a second while an Island that fits had a free slot. */
  readonly besideOverSecond: number;
  /** All of the wait in which a slot that fits was free somewhere, now here and now there, of all jobs. */
  readonly idleWaitMs: Quantiles;
  /** Parts of all jobs that started at another coordinator than they were submitted to, and that moved more than once. */
  readonly stolen: number;
  readonly movedAgain: number;
  /** Part of the slot time in the window that other accounts had than with one scheduler. */
  readonly misplaced: number;
  /** Slot time in the window beside that with one scheduler, of accounts with much: the least and the most of 98 of 100. */
  readonly leastServed: number;
  readonly mostServed: number;
  /** Part of the starts that came before an earlier due job of the same account, class and Cargo. */
  readonly outOfOrder: number;
  /** How much earlier or later jobs started than with one scheduler, of those that waited. */
  readonly displacedMs: Quantiles;
  /** A second, of all coordinators together. */
  readonly publishedPerS: number;
  readonly requestsPerS: number;
  /** A second, of one coordinator. */
  readonly receivedPerS: number;
  readonly kbPerS: number;
}

interface Quantiles {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** An account with so many jobs or fewer is a small one. */
const SMALL_ACCOUNT_JOBS = 30;
/** Less slot time, and the end of one run more or less makes the difference. */
const MIN_COMPARED_MS = 600_000;

export function figuresOf(coordinators: number, workload: Workload, run: Outcome, ideal: Outcome): CellFigures {
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
    // A request is received by one and its answer by another.
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

/** 0 without a value. */
function at(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
