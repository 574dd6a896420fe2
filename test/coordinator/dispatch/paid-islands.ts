import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { Hello } from "../../../shared/protocol/from-island.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

export const CREDITS = 100;

/** A new coordinator for each test. */
export let coordinator: TestCoordinator;
export let client: { id: string; key: string };
/** Account that owns the Islands. The client has another one. */
export let owner: { id: string; key: string; islandToken: string };

/** Registers the hooks of a test file, which must call it once. Checks the ledger after each test. */
export function openForEachTest(): void {
  beforeEach(async () => {
    coordinator = await TestCoordinator.open({ islandGraceS: 0.3, networkFee: 0 });
    client = await coordinator.createAccount("client@example.com", CREDITS);
    owner = await coordinator.createAccount("owner@example.com", CREDITS);
  });
  afterEach(async () => {
    expect(coordinator.fatal).toEqual([]);
    const report = await coordinator.withStore((store) => store.ledger.verify());
    expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    await coordinator[Symbol.asyncDispose]();
  });
}

export const join = (more: Partial<Hello> = {}): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, owner.islandToken, { hostId: randomUUID(), ...more });
export const api = (method: string, path: string, body?: unknown) =>
  call(coordinator.url, client.key, method, path, body);
export async function submit(input: object = {}, workload = "tiny-chat"): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload, input });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data.id as string;
}
export const ended = (jobId: string) =>
  until(
    async () => (await api("GET", `/jobs/${jobId}`)).body.data,
    ({ completed_at }) => completed_at !== null,
    "the job ended",
  );
export const paid = async (): Promise<number> =>
  Math.round((CREDITS - ((await api("GET", "/account")).body.data.credits as number)) * 1e6) / 1e6;
export const earned = async (): Promise<number> => {
  const { body } = await call(coordinator.url, owner.key, "GET", "/account");
  return Math.round(((body.data.credits as number) - CREDITS) * 1e6) / 1e6;
};
export const prompt = (text = "Hi", more: object = {}) => ({ prompt: text, ...more });
