import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountProblems } from "../support/store/account-books.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster, LEASE_MS } from "../support/network/cluster.ts";
import { call } from "../support/http/http.ts";
import { ended, followAnywhere, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

const CREDITS = 1_000;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let cluster: Cluster;
let client: NewAccount;
let islands: WordIsland[];

describe("PostgreSQL under three coordinators", () => {
  beforeAll(async () => {
    cluster = await Cluster.open();
    client = cluster.createAccount("client@example.com", CREDITS, { concurrentJobs: 1_000 });
    const owner = cluster.createAccount("owner@example.com", 0);
    islands = await Promise.all([0, 1].map((index) => WordIsland.open({ urls: cluster.islandUrls(index), owner })));
  });
  afterAll(async () => {
    for (const island of islands) await island[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it.each([
    ["is restarted", () => cluster.postgres.restart()],
    [
      "is killed, and is down for longer than a lease",
      async () => {
        await cluster.postgres.kill();
        await wait(LEASE_MS + 1_000);
        await cluster.postgres.restart();
      },
    ],
  ])("%s: streams continue, new requests are refused, nothing is lost, and no process exits", async (what, disturb) => {
    const pids = cluster.members.map(({ program }) => program.process.pid);
    const jobIds = await Promise.all([0, 1, 2].map((index) => submitWords(cluster.at(index).url, client.key, 300, 30)));
    for (const jobId of jobIds) await running(cluster.at(0).url, client.key, jobId);
    const followed = jobIds.map((jobId, index) => followAnywhere(() => cluster.at(index).url, client.key, jobId));
    // Some jobs end while the database is down. Their Islands keep the results.
    const short = await Promise.all([1, 2, 3].map(() => submitWords(cluster.at(1).url, client.key, 5, 100)));
    const submissions: number[] = [];
    const over = new AbortController();
    const submitting = (async () => {
      const acknowledged: string[] = [];
      for (let index = 0; !over.signal.aborted; index += 1) {
        const body = { workload: "tiny-chat", input: { prompt: "3 words every 1 ms" } };
        const headers = { "idempotency-key": `${what.split(" ")[1]}-${index}` };
        const { status, body: created } = await call(cluster.nextUrl(), client.key, "POST", "/jobs", body, headers);
        submissions.push(status);
        if (status === 201) acknowledged.push(created.data.id);
        await wait(50);
      }
      return acknowledged;
    })();
    await disturb();
    await expect.poll(() => submissions.at(-1), { timeout: 20_000 }).toBe(201);
    over.abort();
    const acknowledged = await submitting;
    expect(submissions.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    for (const stream of followed) expect(await stream).toMatchObject({ text: wordsText(300), endings: ["done"] });
    for (const jobId of [...jobIds, ...short, ...acknowledged]) {
      expect(await ended(() => cluster.at(2).url, client.key, jobId)).toMatchObject({ status: "completed" });
    }
    expect(cluster.members.map(({ program }) => program.process.pid)).toEqual(pids);
    expect(cluster.members.map(({ isUp }) => isUp)).toEqual([true, true, true]);
  });

  it("keeps a ledger that sums to zero, in which each job is charged once", async () => {
    expect(await accountProblems(cluster.at(0).url, client.key, CREDITS)).toEqual([]);
    expect((await cluster.manage("ledger", "verify")).code).toBe(0);
  });
});
