import { randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Link } from "../../../chaos/link.ts";
import { insertAccount, type NewAccount } from "../../../support/store/account-rows.ts";
import { runFrames } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call } from "../../../support/http/http.ts";
import { PostgresServer } from "../../../support/servers/postgres-server.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

/** This is far below the minute after which the coordinator compares memory with storage anyway. */
const SOON = { timeout: 20_000, interval: 500 };

describe("a request with a lost reply to its commit", () => {
  let server: PostgresServer;
  let link: Link;
  let admin: pg.Client;
  let coordinator: TestCoordinator;
  let account: NewAccount;
  beforeAll(async () => {
    server = await PostgresServer.start();
    link = await Link.open(server.port);
  });
  afterAll(async () => {
    await link[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const name = `lost_${randomUUID().slice(0, 8)}`;
    const direct = await server.createDatabase(name);
    admin = new pg.Client(direct);
    await admin.connect();
    const location = { address: `postgres://atoll@127.0.0.1:${link.port}/${name}`, key: randomBytes(32) };
    coordinator = await TestCoordinator.open({ leaseMs: 2_000, leaseRenewMs: 200 }, {}, location);
    // Bypasses the link, which runs in this process and which the command would block.
    account = insertAccount({ ...location, address: direct }, "client@example.com", 1_000);
  });
  afterEach(async () => {
    await admin.end();
    link.heal();
    expect(coordinator.fatal).toEqual([]);
    await coordinator[Symbol.asyncDispose]();
  });

  const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
  const jobs = async (): Promise<number> =>
    Number((await admin.query<{ count: string }>("SELECT count(*) FROM jobs")).rows[0]?.count);
  /** Sends a request that creates a job. Blocks its write until replies are held back, then resets the connections. */
  async function loseAnswerOf(request: () => ReturnType<typeof api>): ReturnType<typeof api> {
    await admin.query("BEGIN");
    await admin.query("LOCK TABLE jobs IN EXCLUSIVE MODE");
    const answer = request();
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pg_temp.run%'";
    await expect.poll(async () => (await server.query(waiting)).rowCount).toBe(1);
    link.stall("down");
    await admin.query("COMMIT");
    await expect.poll(jobs).toBe(1);
    link.reset();
    link.heal();
    return answer;
  }

  it("is refused, and its job runs soon after", async () => {
    const refused = await loseAnswerOf(() => api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } }));
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
    const assign = await island.next("assign");
    island.send(...runFrames(assign, "Hello"));
    const ended = async () => (await api("GET", `/jobs/${assign.jobId}`)).body.data.status;
    await expect.poll(ended, SOON).toBe("completed");
    const again = await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });
    expect([again.status, await jobs()]).toEqual([201, 2]);
  });

  it("is refused for a question, whose answer appears in the conversation soon after", async () => {
    const id = (await api("POST", "/conversations", {})).body.data.id as string;
    const refused = await loseAnswerOf(() => api("POST", `/conversations/${id}/messages`, { content: "Hi" }));
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
    island.send(...runFrames(await island.next("assign"), "Hello"));
    const answer = async () => (await api("GET", `/conversations/${id}`)).body.data.messages.at(-1);
    await expect.poll(answer, SOON).toMatchObject({ role: "assistant", content: "Hello" });
  });
});
