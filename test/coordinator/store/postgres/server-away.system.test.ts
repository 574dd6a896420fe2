import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pino } from "pino";
import { resolveConfig } from "../../../../coordinator/config/resolve-config.ts";
import { openCoordinator } from "../../../../coordinator/coordinator.ts";
import { systemClock } from "../../../../shared/clock.ts";
import type { NewAccount } from "../../../support/store/account-rows.ts";
import { beginFrames, finishedFrame, outputFrame, runFrames } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call, jobEvents, until } from "../../../support/http/http.ts";
import { PostgresServer } from "../../../support/servers/postgres-server.ts";
import { smallCatalog } from "../../../support/small-catalog.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const KEY = randomBytes(32);

describe("a coordinator with an unavailable PostgreSQL", () => {
  let server: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    server = await PostgresServer.start({ isDurable: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const makePlace = async () => ({ address: await server.createDatabase(`away_${(databases += 1)}`), key: KEY });

  describe("while it serves", () => {
    let coordinator: TestCoordinator;
    let account: NewAccount;
    beforeEach(async () => {
      coordinator = await TestCoordinator.open({ leaseMs: 500, leaseRenewMs: 100 }, {}, await makePlace());
      account = await coordinator.createAccount("client@example.com", 1_000);
    });
    afterEach(() => coordinator[Symbol.asyncDispose]());

    const api = (method: string, path: string, body?: unknown) =>
      call(coordinator.url, account.key, method, path, body);
    const submit = (prompt: string) => api("POST", "/jobs", { workload: "tiny-chat", input: { prompt } });
    const health = async () => (await call(coordinator.url, null, "GET", "/health")).body;

    it("continues streams from memory, refuses new requests, and stores everything when the server is back", async () => {
      await using island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
      const jobId = (await submit("Hi")).body.data.id as string;
      const waitingId = (await submit("Later")).body.data.id as string;
      const assign = await island.next("assign");
      const events = jobEvents(coordinator.url, account.key, jobId);
      const token = async (): Promise<string> => {
        for (;;) {
          const { value } = await events.next();
          if (value?.event === "token") return value.data.content as string;
        }
      };
      island.send(...beginFrames(assign), outputFrame(assign, 1, "a"));
      expect(await token()).toBe("a");

      await server.kill();
      island.send(outputFrame(assign, 2, "b"));
      expect(await token()).toBe("b");
      await until(health, ({ checks }) => checks.store === "read_only", "the store is read-only");
      expect(await submit("New")).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
      island.send(outputFrame(assign, 3, "c"), finishedFrame(assign, 4, { completionTokens: 3 }));
      expect(await token()).toBe("c");

      await server.restart();
      await island.next("ack", (ack) => ack.jobId === jobId && ack.seq === 4);
      const ended = (await api("GET", `/jobs/${jobId}`)).body.data;
      expect(ended).toMatchObject({ status: "completed", output: "abc", attempts: 1 });
      const next = await island.next("assign", (frame) => frame.jobId === waitingId);
      island.send(...runFrames(next, "d"));
      await island.next("ack", (ack) => ack.jobId === waitingId && ack.seq === 2);
      await until(health, ({ status }) => status === "ok", "the coordinator is well");
      expect(coordinator.fatal).toEqual([]);
      const report = await coordinator.withStore((store) => store.ledger.verify());
      expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    });

    it("shuts down in an orderly way, and the next start resumes its jobs", async () => {
      await using island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
      const jobId = (await submit("Hi")).body.data.id as string;
      const assign = await island.next("assign");
      island.send(...beginFrames(assign), outputFrame(assign, 1, "a"));
      await island.next("ack");
      await server.kill();
      await coordinator.stop();
      await server.restart();
      await coordinator.start();
      expect((await api("GET", `/jobs/${jobId}`)).body.data).toMatchObject({ status: "running" });
      expect(coordinator.fatal).toEqual([]);
    });
  });

  it("waits at its start, logs the reason, and serves when the server is available", async () => {
    const { address, key } = await makePlace();
    await server.kill();
    const lines: string[] = [];
    const opening = openCoordinator({
      config: resolveConfig({
        flags: { port: 0, store: address },
        env: { ATOLL_CLUSTER_KEY: key.toString("hex") },
        toml: null,
        shippedCatalogDirectory: smallCatalog(),
      }),
      clock: systemClock,
      log: pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) }),
      version: "0.0.0-test",
      onFatal: (error) => lines.push(String(error)),
    });
    await expect.poll(() => lines[0]).toMatch(/ECONNREFUSED.*Waiting until storage/);
    await server.restart();
    const coordinator = await opening;
    const reported = lines.filter((line) => line.includes("Waiting until storage"));
    expect(reported).toEqual([...new Set(reported)]);
    expect((await fetch(`${coordinator.url}/api/v1/health`)).status).toBe(200);
    await coordinator.close();
  });
});
