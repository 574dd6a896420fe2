import type { Random } from "../../test/support/random.ts";

/** Measured duration of an operation: a log-normal distribution through two points. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The operations that coordinators wait for. */
export interface Latencies {
  /** One-way message between coordinators. */
  readonly bus: Latency;
  /** Commit that transfers waiting jobs to another coordinator. */
  readonly transfer: Latency;
  /** Reading and restoring transferred jobs. */
  readonly adopt: Latency;
}

/**
 * Latencies in one data centre whose servers are under load. They are higher than those that `cluster-latencies.ts`
 * measures on an idle machine. Measured on two cores shared with eight other busy processes.
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

/** Returns a normally distributed number with mean 0 and standard deviation 1. Source: Box and Muller (1958). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
