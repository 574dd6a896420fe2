import { Random } from "../../test/support/random.ts";
import type { Fleet } from "./fleet.ts";
import { normal } from "./latency.ts";

/** The load from a given time on, as a fraction of the capacity of all slots. */
export interface Phase {
  readonly fromMs: number;
  readonly load: number;
}

export interface WorkloadOptions {
  readonly jobs: number;
  readonly accounts: number;
  readonly phases: readonly Phase[];
  readonly seed: number;
}

/** Slot time of a run: log-normal. */
const RUNS = { chat: { medianMs: 6_000, sigma: 0.8, part: 0.6 }, batch: { medianMs: 20_000, sigma: 1, part: 0.4 } };
const MAX_RUN_MS = 600_000;
/** Skew of accounts: the share of account i is proportional to 1 / (i + 1) to this power. */
const ACCOUNT_SKEW = 0.8;
const SHARES = [100, 100, 100, 100, 100, 100, 100, 100, 200, 400];
const PRIORITIES = [50, 50, 50, 50, 50, 50, 20, 80, 100, 0];

/** Jobs in the order of their arrival. They are the same for any number of coordinators. */
export class Workload {
  readonly jobs: number;
  readonly accounts: number;
  readonly arrivalMs: Float64Array;
  readonly runMs: Float64Array;
  readonly account: Uint32Array;
  readonly cargo: Uint8Array;
  readonly isChat: Uint8Array;
  readonly priority: Uint8Array;
  /** The number of jobs of each account. */
  readonly jobsOf: Uint32Array;

  constructor(fleet: Fleet, { jobs, accounts, phases, seed }: WorkloadOptions) {
    const random = new Random(seed);
    this.jobs = jobs;
    this.accounts = accounts;
    this.arrivalMs = new Float64Array(jobs);
    this.runMs = new Float64Array(jobs);
    this.account = new Uint32Array(jobs);
    this.cargo = new Uint8Array(jobs);
    this.isChat = new Uint8Array(jobs);
    this.priority = new Uint8Array(jobs);
    this.jobsOf = new Uint32Array(accounts);
    const pickCargo = picker(fleet.cargos.map(({ part }) => part));
    const pickAccount = picker(Array.from({ length: accounts }, (_, index) => (index + 1) ** -ACCOUNT_SKEW));
    const perMs = fleet.slots / meanRunMs();
    let atMs = 0;
    for (let job = 0; job < jobs; job += 1) {
      atMs += -Math.log(1 - random.next()) / (perMs * loadAt(phases, atMs));
      this.arrivalMs[job] = atMs;
      const isChat = random.chance(RUNS.chat.part);
      this.isChat[job] = isChat ? 1 : 0;
      this.runMs[job] = sampleRunMs(isChat, random);
      const account = pickAccount(random);
      this.account[job] = account;
      this.jobsOf[account] = (this.jobsOf[account] ?? 0) + 1;
      this.cargo[job] = pickCargo(random);
      this.priority[job] = random.pick(PRIORITIES);
    }
  }

  shareOf(account: number): number {
    return SHARES[account % SHARES.length] as number;
  }
}

/** Samples the remaining duration of the run that a slot has at a random time. Long runs are more likely. */
export function sampleResidualMs(random: Random): number {
  const chatMs = RUNS.chat.part * meanMs(RUNS.chat);
  const { medianMs, sigma } = random.chance(chatMs / meanRunMs()) ? RUNS.chat : RUNS.batch;
  const wholeMs = medianMs * Math.exp(sigma ** 2 + sigma * normal(random));
  return random.next() * Math.min(wholeMs, MAX_RUN_MS);
}

function sampleRunMs(isChat: boolean, random: Random): number {
  const { medianMs, sigma } = isChat ? RUNS.chat : RUNS.batch;
  return Math.min(MAX_RUN_MS, medianMs * Math.exp(sigma * normal(random)));
}

const meanMs = ({ medianMs, sigma }: { medianMs: number; sigma: number }): number =>
  medianMs * Math.exp(sigma ** 2 / 2);

function meanRunMs(): number {
  return RUNS.chat.part * meanMs(RUNS.chat) + RUNS.batch.part * meanMs(RUNS.batch);
}

export function loadAt(phases: readonly Phase[], atMs: number): number {
  const phase = phases.findLast(({ fromMs }) => fromMs <= atMs);
  if (phase === undefined) throw new RangeError("The first phase must begin at 0");
  return phase.load;
}

/** Returns a function that picks an index with a probability proportional to its weight. */
function picker(weights: readonly number[]): (random: Random) => number {
  const upTo = new Float64Array(weights.length);
  let sum = 0;
  for (const [index, weight] of weights.entries()) upTo[index] = sum += weight;
  return (random) => {
    const point = random.next() * sum;
    let [low, high] = [0, weights.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) > point) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
