import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../../shared/protocol/from-island.ts";
import { finishedFrame, outputFrame } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call, until } from "../../../support/http/http.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

export let coordinator: TestCoordinator;
export let account: { id: string; key: string; islandToken: string };

export function setUp(): void {
  beforeEach(async () => {
    coordinator = await TestCoordinator.open({ islandGraceS: 30 });
    account = await coordinator.createAccount("client@example.com");
    await setLimits({ requestsPerMinute: 100_000 });
  });
  afterEach(async () => {
    expect(coordinator.fatal).toEqual([]);
    const report = await coordinator.withStore((store) => store.ledger.verify());
    expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    await coordinator[Symbol.asyncDispose]();
  });
}

export const setLimits = (limits: { requestsPerMinute?: number; concurrentJobs?: number }): Promise<unknown> =>
  coordinator.withStore((store) => store.accounts.setLimits(account.id, limits));
export const join = (hostId: string = randomUUID(), slots = 100): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId, slots });
export const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  call(coordinator.url, account.key, method, path, body, headers);
export const inputs = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ prompt: `Say ${index}` }));

export interface Batch {
  readonly id: string;
  readonly status: string;
  readonly counts: Record<string, number>;
  readonly jobs: { id: string; status: string }[];
}

export async function submit(count: number, more: object = {}): Promise<Batch> {
  const { status, body } = await api("POST", "/jobs/batch", {
    workload: "tiny-chat",
    inputs: inputs(count),
    ...more,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data as Batch;
}

export const batchOf = async (id: string): Promise<Batch> => (await api("GET", `/jobs/batch/${id}`)).body.data as Batch;
export const ended = (id: string): Promise<Batch> =>
  until(
    () => batchOf(id),
    ({ status }) => status !== "pending" && status !== "running",
    "the batch ended",
  );
export const credits = async (): Promise<number> => (await api("GET", "/account")).body.data.credits as number;

/** Credits that a job of a batch holds: 5 bytes of prompt and 1,024 tokens, at 4 and 16 micro-credits. */
export const HELD = (5 * 4 + 1_024 * 16) / 1_000_000;

export function finished(assign: Pick<Assign, "jobId" | "attempt">): FromIsland[] {
  return [outputFrame(assign, 1, `done ${assign.jobId}`), finishedFrame(assign, 2, { completionTokens: 1 })];
}

export function failed({ jobId, attempt }: Assign) {
  return {
    type: "failed" as const,
    jobId,
    attempt,
    seq: 1,
    code: "invalid_input" as const,
    message: "no",
    retryable: false,
  };
}

export async function assigned(island: FakeIsland, count: number): Promise<Assign[]> {
  const taken: Assign[] = [];
  while (taken.length < count) taken.push(await island.next("assign"));
  return taken;
}
