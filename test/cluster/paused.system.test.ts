import { describe, expect, it } from "vitest";
import { accountProblems } from "../support/store/account-books.ts";
import { Cluster, LEASE_MS } from "../support/network/cluster.ts";
import { call } from "../support/http/http.ts";
import { ended, followAnywhere, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

const CREDITS = 1_000;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a coordinator that continues after a SIGSTOP for longer than its lease", () => {
  it("drops its adopted jobs and keeps serving, and each job ends once and is charged once", async () => {
    await using cluster = await Cluster.open();
    const client = cluster.createAccount("client@example.com", CREDITS);
    const owner = cluster.createAccount("owner@example.com", 0);
    const [victim, other] = [cluster.at(0), cluster.at(1)];
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner, slots: 2 });
    const held = await Promise.all([1, 2].map(() => submitWords(victim.url, client.key, 300, 40)));
    for (const jobId of held) await running(victim.url, client.key, jobId);
    const waiting = await Promise.all([1, 2, 3].map(() => submitWords(victim.url, client.key, 3, 1)));
    const followed = followAnywhere(() => cluster.nextUrl(), client.key, held[0] ?? "");
    const before = victim.program.process.pid;
    victim.freeze();
    // After 2.5 heartbeats without a frame, the Island dials another coordinator.
    await island.untilAwayFrom(victim.islands.url);
    await using _second = await WordIsland.open({ urls: [other.islands.url], owner, slots: 2 });
    for (const jobId of waiting) {
      expect(await ended(() => other.url, client.key, jobId)).toMatchObject({ status: "completed", attempts: 1 });
    }
    await wait(LEASE_MS);
    victim.thaw();
    // The resumed coordinator returns the states of its former jobs, as the other coordinators do.
    for (const jobId of [...held, ...waiting]) {
      const job = await ended(() => victim.url, client.key, jobId);
      expect(job.status).toBe("completed");
    }
    expect(await followed).toMatchObject({ text: wordsText(300), endings: ["done"] });
    expect(victim.program.process.pid).toBe(before);
    expect(victim.isUp).toBe(true);
    const after = await submitWords(victim.url, client.key, 3, 1);
    expect(await ended(() => other.url, client.key, after)).toMatchObject({ status: "completed", attempts: 1 });
    expect(await accountProblems(other.url, client.key, CREDITS)).toEqual([]);
    expect((await cluster.manage("ledger", "verify")).code).toBe(0);
  });

  it("continues its jobs if no other coordinator adopted them", async () => {
    await using cluster = await Cluster.open({ coordinators: 1 });
    const client = cluster.createAccount("client@example.com", CREDITS);
    const owner = cluster.createAccount("owner@example.com", 0);
    const alone = cluster.at(0);
    const jobId = await submitWords(alone.url, client.key, 5, 1);
    alone.freeze();
    await wait(LEASE_MS * 2);
    alone.thaw();
    await using _island = await WordIsland.open({ urls: [alone.islands.url], owner });
    expect(await ended(() => alone.url, client.key, jobId)).toMatchObject({ status: "completed", attempts: 1 });
    expect((await call(alone.url, null, "GET", "/health")).status).toBe(200);
  });
});
