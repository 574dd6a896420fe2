import type { Random } from "../../test/support/random.ts";

/** How long something takes, as it was measured. Between the two points and beyond, log-normal. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What the coordinators wait for. */
export interface Latencies {
  /** A message from one coordinator to another, one way. */
  readonly bus: Latency;
  /** The commit that gives waiting jobs to another coordinator. */
  readonly transfer: Latency;
  /** Reading and restoring jobs that were given. */
  readonly adopt: Latency;
}

/**
 * One data centre, with the servers under load: more than what `cluster-latencies.ts` measures where nothing else runs, and what it
 * measured on two cores that eight other processes wanted.
 */
export const LOCAL_LATENCIES: Latencies = {
  bus: { p50Ms: 0.3, p99Ms: 5 },
  transfer: { p50Ms: 3, p99Ms: 25 },
  adopt: { p50Ms: 3, p99Ms: 25 },
};

const Z_OF_P99 = 2.326;

export function sampleMs({ p50Ms, p99Ms }: Latency, random: Random): number {
  if (p50Ms === 0) return 0;
  return p50Ms * Math.exp((Math.log(p99Ms / p50Ms) / Z_OF_P99) * normal(random));
}

/** Of mean 0 and deviation 1. Source: Box and Muller (1958). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
