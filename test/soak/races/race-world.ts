import { afterAll, beforeAll, expect } from "vitest";
import { call } from "../../support/http/http.ts";
import { HAS_EVERY_ROUND } from "../../support/soak-rounds.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

/**
 * Number of concurrent lanes, which share commits. With this number no account exceeds its limit of new keys per
 * minute.
 */
export const LANES = HAS_EVERY_ROUND ? 25 : 10;
/** Price of a job, in credits. */
export const PRICE = 0.005;
/** A job ends with one frame, and costs its full price or nothing. */
export const JOB = { workload: "base64", input: { data: "Hi" } };
export const RUNTIMES = [{ type: "wasm" as const, version: "test" }];
export const RESULT = { output: { data: "SGk=" } };
export const UNLIMITED = { requestsPerMinute: 1_000_000, concurrentJobs: 1_000, concurrentStreams: 1_000 };

/** Coordinator of the importing test file. */
export let coordinator: TestCoordinator;
beforeAll(async () => {
  // The heartbeats are long, because the Islands send none. Each job gets one attempt, so that a failure ends it.
  coordinator = await TestCoordinator.open({ publicRequestsPerMinute: 1_000_000, maxAttempts: 1 });
  const cargo = (await call(coordinator.url, null, "GET", `/cargos/${JOB.workload}`)).body.data;
  expect(cargo.price_per_job).toBe(PRICE);
});
afterAll(() => coordinator[Symbol.asyncDispose]());

export const api = (key: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(coordinator.url, key, method, path, body, headers);
export const submit = (key: string, headers: Record<string, string> = {}) => api(key, "POST", "/jobs", JOB, headers);
export const cancel = async (key: string, jobId: string): Promise<void> => {
  expect((await api(key, "DELETE", `/jobs/${jobId}`)).status).toBe(200);
};
export const creditsOf = async (key: string): Promise<number> =>
  (await api(key, "GET", "/account")).body.data.credits as number;
export const statusesOf = (responses: readonly { status: number }[]): number[] =>
  responses.map(({ status }) => status).sort((a, b) => a - b);

/** Runs `round` this many times, in concurrent lanes. */
export async function race(rounds: number, round: (lane: number, index: number) => Promise<void>): Promise<void> {
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let index = lane; index < rounds; index += LANES) await round(lane, index);
  });
  await Promise.all(lanes);
  expect(coordinator.fatal).toEqual([]);
  const report = await coordinator.withStore((store) => store.ledger.verify());
  expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
}

/** Waits for a time that varies between rounds, as the head start of a request, so that either side may win. */
export async function headStart(index: number): Promise<void> {
  for (let ticks = index % 40; ticks > 0; ticks -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Creates an account per lane. Returns their API keys. */
export async function makeKeys(name: string, credits: number): Promise<string[]> {
  const keys: string[] = [];
  for (let lane = 0; lane < LANES; lane += 1) {
    keys.push((await coordinator.createAccount(`${name}-${lane}@example.com`, credits, UNLIMITED)).key);
  }
  return keys;
}
