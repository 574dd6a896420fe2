import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewAccount } from "../support/store/account-rows.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { runFrames } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call } from "../support/http/http.ts";
import type { NatsServer } from "../support/servers/nats-server.ts";
import type { PostgresServer } from "../support/servers/postgres-server.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { withNats, withPostgres } from "../support/servers/with-servers.ts";

const JOB = { workload: "tiny-chat", input: { prompt: "Hi" } };
await withPostgres((postgres) => withNats((nats) => describeLimits(postgres, nats)));

function describeLimits(postgres: PostgresServer, nats: NatsServer): void {
  let databases = 0;
  let both: [TestCoordinator, TestCoordinator];
  beforeEach(async () => {
    databases += 1;
    const location = { address: await postgres.createDatabase(`limits_${databases}`), key: randomBytes(32) };
    const open = () => TestCoordinator.open({ bus: nats.address, leaseRenewMs: 200 }, {}, location);
    both = [await open(), await open()];
    // Waits until both coordinators know each other.
    await sleep(1_000);
  });
  afterEach(async () => {
    for (const coordinator of both) expect(coordinator.fatal).toEqual([]);
    await Promise.all(both.map((coordinator) => coordinator[Symbol.asyncDispose]()));
  });

  const urlOf = (index: number): string => (both[index % 2] as TestCoordinator).url;
  const account = (limits: Parameters<TestCoordinator["createAccount"]>[2]): Promise<NewAccount> =>
    both[0].createAccount("client@example.com", 1_000, limits);
  const count = <T>(list: readonly T[], value: T): number => list.filter((each) => each === value).length;

  describe("two coordinators", () => {
    it("together enforce an account's limit of unfinished jobs", async () => {
      const { key } = await account({ concurrentJobs: 10 });
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, i) => call(urlOf(i), key, "POST", "/jobs", JOB)),
      );
      const statuses = responses.map(({ status }) => status);
      expect([count(statuses, 201), count(statuses, 429)]).toEqual([10, 30]);
      const made = responses.flatMap(({ body }) => (body.data === undefined ? [] : [body.data.id as string]));
      const owner = responses.findIndex(({ status }) => status === 201);
      expect((await call(urlOf(owner), key, "DELETE", `/jobs/${made[0]}`)).status).toBe(200);
      const again = await Promise.all(Array.from({ length: 4 }, (_, i) => call(urlOf(i), key, "POST", "/jobs", JOB)));
      expect(
        count(
          again.map(({ status }) => status),
          201,
        ),
      ).toBe(1);
    });

    it("create one job for an Idempotency-Key, even with the account's last quota slot", async () => {
      const { key } = await account({ concurrentJobs: 1 });
      const headers = { "idempotency-key": "once" };
      const responses = await Promise.all(
        Array.from({ length: 12 }, (_, i) => call(urlOf(i), key, "POST", "/jobs", JOB, headers)),
      );
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
      expect(new Set(responses.map(({ body }) => body.data.id as string)).size).toBe(1);
    });

    it("together enforce an account's requests per minute", async () => {
      const { key } = await account({ requestsPerMinute: 100 });
      const statuses: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const responses = Array.from({ length: 15 }, (_, i) => call(urlOf(i * round), key, "GET", "/jobs"));
        statuses.push(...(await Promise.all(responses)).map(({ status }) => status));
      }
      expect([count(statuses, 200), count(statuses, 429)]).toEqual([100, 50]);
    });

    it("together enforce an account's limit of streams, and release a closed one", async () => {
      const { key } = await account({ concurrentStreams: 5 });
      const jobs = await Promise.all([0, 1].map((i) => call(urlOf(i), key, "POST", "/jobs", JOB)));
      const headers = { authorization: `Bearer ${key}` };
      const open = async (i: number) => {
        const gone = new AbortController();
        const url = `${urlOf(i)}/api/v1/jobs/${jobs[i % 2]?.body.data.id as string}/stream`;
        const { status } = await fetch(url, { headers, signal: gone.signal });
        return { status, gone };
      };
      const opened = await Promise.all(Array.from({ length: 16 }, (_, i) => open(i)));
      expect(
        count(
          opened.map(({ status }) => status),
          200,
        ),
      ).toBe(5);
      opened.find(({ status }) => status === 200)?.gone.abort();
      await expect.poll(async () => (await open(0)).status).toBe(200);
      expect((await open(1)).status).toBe(429);
      for (const { gone } of opened) gone.abort();
    });

    it("reject a revoked key or token within a second, and close its connections", async () => {
      const { id, key, islandToken } = await account({});
      const made = await call(urlOf(0), key, "POST", "/api-keys", { name: "other" });
      const other = made.body.key as string;
      const job = await call(urlOf(1), key, "POST", "/jobs", JOB);
      const headers = { authorization: `Bearer ${other}` };
      const stream = await fetch(`${urlOf(1)}/api/v1/jobs/${job.body.data.id as string}/stream`, { headers });
      await using island = await FakeIsland.join(urlOf(1), islandToken);
      expect((await call(urlOf(0), key, "DELETE", `/api-keys/${made.body.id as string}`)).status).toBe(200);
      expect((await call(urlOf(0), other, "GET", "/jobs")).status).toBe(401);
      await both[0].withStore(async (_store, accounts) => {
        const [token] = await accounts.islandTokens.list(id);
        await accounts.islandTokens.revoke(id, token?.id as string);
      });
      const ended = stream.text().then(
        () => "ended",
        () => "cut",
      );
      const late = sleep(1_000, "late");
      expect(await Promise.race([ended, late])).toBe("cut");
      expect(await Promise.race([island.next("goodbye"), late])).toMatchObject({
        reason: "the Island token was revoked",
      });
      expect((await call(urlOf(1), other, "GET", "/jobs")).status).toBe(401);
    });

    it("run batch jobs within the account's quota, which both release", async () => {
      const { key, islandToken } = await account({ concurrentJobs: 3 });
      await using one = await FakeIsland.join(urlOf(0), islandToken, { slots: 8 });
      await using two = await FakeIsland.join(urlOf(1), islandToken, {
        slots: 8,
        hostId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f02",
      });
      const batch = { workload: "tiny-chat", inputs: Array.from({ length: 9 }, () => JOB.input) };
      const batches = await Promise.all([0, 1].map((i) => call(urlOf(i), key, "POST", "/jobs/batch", batch)));
      expect(batches.map(({ status }) => status)).toEqual([201, 201]);
      let [held, most, done] = [0, 0, 0];
      const run = async (island: FakeIsland, assign: Assign): Promise<void> => {
        await sleep(50);
        [held, done] = [held - 1, done + 1];
        for (const frame of runFrames(assign, "word")) island.send(frame);
      };
      const work = async (island: FakeIsland): Promise<void> => {
        for (;;) {
          const assign = await island.next("assign");
          held += 1;
          most = Math.max(most, held);
          void run(island, assign);
        }
      };
      void Promise.all([work(one), work(two)]).catch(() => undefined);
      for (const [i, { body }] of batches.entries()) {
        const status = async () =>
          (await call(urlOf(i), key, "GET", `/jobs/batch/${body.data.id as string}`)).body.data.status;
        await expect.poll(status, { timeout: 30_000 }).toBe("completed");
      }
      expect([done, most]).toEqual([18, 3]);
    });
  });
}
