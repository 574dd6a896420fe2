import { recentMap } from "../../shared/recent-map.ts";
import type { JobSize } from "./events.ts";

/** Maximum number of Cargos whose means are kept. */
const MAX_CARGOS = 1_000;
/** Weight of the newest job in the means. */
const NEWEST_WEIGHT = 0.05;
/** Assumed means before the first job. */
const FIRST_INPUT = 200;
const FIRST_OUTPUT = 200;
/** Maximum number of trials that one counts as, so that it never uses up those of many Islands. */
const MAX_TRIAL_CHARGE = 4;
/** Trials that a Cargo may have saved. It starts with as many, so that the first Islands are measured soon. */
const MAX_TRIALS = 16;

/** Means over the jobs of one Cargo, and the trials that are left. */
export interface CargoTraffic {
  /** Mean input; see `JobSize`. */
  input: number;
  /** Mean number of output tokens. */
  output: number;
  trials: number;
}

/**
 * Returns a function that finds the traffic of a Cargo. The caller changes it by the functions below.
 * @param mayTry Whether jobs may measure Islands.
 */
export function trafficByCargo(mayTry: boolean): (slug: string) => CargoTraffic {
  const cargos = recentMap<CargoTraffic>(MAX_CARGOS);
  return (slug) => {
    const known = cargos.get(slug);
    if (known !== undefined) return known;
    const first = { input: FIRST_INPUT, output: FIRST_OUTPUT, trials: mayTry ? MAX_TRIALS : 0 };
    cargos.set(slug, first);
    return first;
  };
}

/**
 * Counts a job that started. Each one allows a part of a trial.
 * @param trial Expected cost of a trial, divided by the lowest cost of the other candidates; null for another job.
 */
export function noteStart(traffic: CargoTraffic, trialShare: number, trial: number | null): void {
  const charge = trial === null ? 0 : Math.max(1, Math.min(MAX_TRIAL_CHARGE, trial));
  traffic.trials = Math.min(MAX_TRIALS, traffic.trials + trialShare) - charge;
}

export function noteRun(traffic: CargoTraffic, input: number, output: number): void {
  traffic.input += NEWEST_WEIGHT * (input - traffic.input);
  traffic.output += NEWEST_WEIGHT * (output - traffic.output);
}

/** Returns the number of output tokens that a job is expected to have; 0 for a Cargo without tokens. */
export function expectedOutput(traffic: CargoTraffic, size: JobSize | undefined, hasTokens: boolean): number {
  if (!hasTokens || size?.maxOutput === null) return 0;
  return Math.max(1, Math.min(traffic.output, size?.maxOutput ?? Infinity));
}
