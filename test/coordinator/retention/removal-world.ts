import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join as joinPath } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { runFrames } from "../../support/network/attempt-frames.ts";
import type { NewAccount } from "../../support/store/account-rows.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

export const PASSWORD = "correct horse";

export let coordinator: TestCoordinator;
export let account: NewAccount;

/** Creates a coordinator for each test, and checks the ledger after it. */
export function setUp(): void {
  beforeEach(async () => {
    coordinator = await TestCoordinator.open();
    account = await coordinator.createAccount("client@example.com", 100);
  });
  afterEach(async () => {
    expect(coordinator.fatal).toEqual([]);
    const report = await coordinator.withStore((store) => store.ledger.verify());
    expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    await coordinator[Symbol.asyncDispose]();
  });
}

export const api = (method: string, path: string, body?: unknown, key: string | null = account.key) =>
  call(coordinator.url, key, method, path, body);

export const join = (token = account.islandToken): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, token, { hostId: randomUUID() });

export async function submit(prompt: string, more: object = {}): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt }, ...more });
  expect(status).toBe(201);
  return body.data.id as string;
}

/** Completes a job with this prompt and this output. */
export async function complete(island: FakeIsland, prompt: string, answer: string, more: object = {}): Promise<string> {
  const jobId = await submit(prompt, more);
  const assign = await island.next("assign", (frame) => frame.jobId === jobId);
  await finish(island, assign, answer);
  return jobId;
}

export async function finish(island: FakeIsland, assign: Assign, answer: string): Promise<void> {
  island.send(...runFrames(assign, answer));
  await island.next("ack", (ack) => ack.jobId === assign.jobId && ack.seq === 2);
}

export async function signIn(): Promise<string> {
  const credentials = { email: "client@example.com", password: PASSWORD };
  return (await api("POST", "/auth/login", credentials, null)).body.data.token as string;
}

/**
 * Returns the files of the data directory, or the tables of the database, that contain a text in the form in which it
 * was written.
 */
export function filesWith(text: string): string[] {
  if (typeof coordinator.location !== "string") return tablesWith(text);
  return readdirSync(coordinator.directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => joinPath(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

function tablesWith(text: string): string[] {
  const tables = coordinator.runSql("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
  const found = (tables as { name: string }[]).map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name} AS each WHERE each::text LIKE ?)`,
  );
  const rows = coordinator.runSql(found.join(" UNION ALL "), ...found.map(() => `%${text}%`));
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Waits until the log of the database is truncated, which happens about a second after a removal. */
export async function untilInNoFile(text: string): Promise<void> {
  await until(
    async () => filesWith(text),
    (files) => files.length === 0,
    `no file of the data directory contains ${text}`,
  );
}
