import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Atoll } from "../../sdk/typescript/src/index.ts";
import { accountProblems } from "../support/store/account-books.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster } from "../support/network/cluster.ts";
import { ended, eventsAt, followAnywhere, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsPrompt, wordsText } from "./word-runtime.ts";

const CREDITS = 1_000;
/**
 * Maximum time until an Island of a killed coordinator has connected to another one. Source: docs/internals/cluster.md.
 */
const MAX_RETURN_MS = 5_000;

let cluster: Cluster;
let client: NewAccount;
let owner: NewAccount;

describe("kill -9 of a coordinator", () => {
  beforeAll(async () => {
    cluster = await Cluster.open();
    client = cluster.createAccount("client@example.com", CREDITS, { concurrentJobs: 1_000 });
    owner = cluster.createAccount("owner@example.com", 0);
  });
  beforeEach(() => cluster.repair());
  afterAll(() => cluster[Symbol.asyncDispose]());

  const anywhere = (): string => cluster.nextUrl();

  it("moves its Islands to another one within 5 s, where their jobs continue in the same attempt", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobIds = await Promise.all([1, 2, 3].map(() => submitWords(cluster.at(0).url, client.key, 150, 40)));
    for (const jobId of jobIds) await running(cluster.at(1).url, client.key, jobId);
    await cluster.at(0).end("SIGKILL");
    expect(await island.untilAwayFrom(cluster.at(0).islands.url)).toBeLessThan(MAX_RETURN_MS);
    for (const jobId of jobIds) {
      expect(await ended(anywhere, client.key, jobId)).toMatchObject({
        status: "completed",
        attempts: 1,
        output: wordsText(150),
      });
    }
    expect(island.runtime.begun).toHaveLength(3);
  });

  it("breaks only the streams that it served, which continue at another coordinator without gap or repeat", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(1), owner });
    // The Island and the job are at other coordinators, and only a reader is at the killed one.
    const jobId = await submitWords(cluster.at(1).url, client.key, 200, 20);
    await running(cluster.at(1).url, client.key, jobId);
    const survivors = Promise.all([1, 2].map((index) => eventsAt(cluster.at(index).url, client.key, jobId)));
    let dials = 0;
    const fromVictim = (): string => (dials++ === 0 ? cluster.at(0).url : cluster.nextUrl());
    const followed = followAnywhere(fromVictim, client.key, jobId);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await cluster.at(0).end("SIGKILL");
    expect(await followed).toEqual({ text: wordsText(200), endings: ["done"], connections: 2, positionsLost: 0 });
    // The other streams kept their connections.
    for (const events of await survivors) {
      expect(events.flatMap(({ event, data }) => (event === "token" ? [data.content] : [])).join("")).toBe(
        wordsText(200),
      );
      expect(events.at(-1)?.event).toBe("done");
    }
    expect(island.agent.status().reconnects).toBe(0);
  });

  it("that owns a job and its Island does not interrupt the stream that @atoll/client reads there", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 150, 40);
    await running(cluster.at(0).url, client.key, jobId);
    const atoll = new Atoll({ baseUrl: cluster.balancer.url, apiKey: client.key });
    let text = "";
    const kinds: string[] = [];
    for await (const event of atoll.jobs.stream(jobId)) {
      if (event.type === "token") text += event.content;
      else kinds.push(event.type);
      if (text.length === wordsText(20).length) await cluster.at(0).end("SIGKILL");
    }
    expect([text, kinds.at(-1)]).toEqual([wordsText(150), "done"]);
    expect(kinds).not.toContain("restart");
    expect(island.runtime.begun).toHaveLength(1);
  });

  it("moves its waiting jobs, and those of Islands that died with it, to others once its lease has expired", async () => {
    const lost = await WordIsland.open({ urls: [cluster.at(0).islands.url], owner, slots: 1 });
    const held = await submitWords(cluster.at(0).url, client.key, 30, 100);
    await running(cluster.at(0).url, client.key, held);
    // These jobs wait, because no slot is free.
    const waiting = await Promise.all([1, 2, 3].map(() => submitWords(cluster.at(0).url, client.key, 5, 1)));
    await cluster.at(0).end("SIGKILL");
    await lost[Symbol.asyncDispose]();
    await using _other = await WordIsland.open({ urls: cluster.islandUrls(1), owner });
    for (const jobId of waiting)
      expect(await ended(anywhere, client.key, jobId)).toMatchObject({ status: "completed" });
    expect(await ended(anywhere, client.key, held)).toMatchObject({ status: "completed", output: wordsText(30) });
  });

  it("during submissions loses no acknowledged job and charges no job twice", async () => {
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner, slots: 20 });
    const acknowledged: string[] = [];
    const submitting = Array.from({ length: 40 }, async (_, index) => {
      const headers = { "idempotency-key": `killed-${index}` };
      for (;;) {
        const url = index % 2 === 0 ? cluster.at(0).url : cluster.nextUrl();
        const jobId = await submitWords(url, client.key, 10, 5, headers).catch(() => null);
        if (jobId !== null) return acknowledged.push(jobId);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    await cluster.at(0).end("SIGKILL");
    await cluster.at(0).start();
    await Promise.all(submitting);
    expect(new Set(acknowledged).size).toBe(40);
    for (const jobId of acknowledged) {
      expect(await ended(anywhere, client.key, jobId)).toMatchObject({ status: "completed", output: wordsText(10) });
    }
  });

  it("leaves a ledger that sums to zero, with each job charged once", async () => {
    expect(await accountProblems(cluster.at(1).url, client.key, CREDITS)).toEqual([]);
    expect((await cluster.manage("ledger", "verify")).code).toBe(0);
  });
});

describe("SIGTERM of a coordinator", () => {
  it("transfers its jobs and Islands without new attempts", async () => {
    await using cluster = await Cluster.open();
    const client = cluster.createAccount("client@example.com", CREDITS);
    const owner = cluster.createAccount("owner@example.com", 0);
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner, slots: 2 });
    const held = await Promise.all([1, 2].map(() => submitWords(cluster.at(0).url, client.key, 100, 40)));
    for (const jobId of held) await running(cluster.at(0).url, client.key, jobId);
    const waiting = await submitWords(cluster.at(0).url, client.key, 5, 1);
    const followed = followAnywhere(() => cluster.nextUrl(), client.key, held[0] ?? "");
    const { code, stderr } = await cluster.at(0).end("SIGTERM");
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    // `goodbye` contains the address of another coordinator, so the Island reconnects with one dial.
    await island.untilAwayFrom(cluster.at(0).islands.url);
    for (const jobId of [...held, waiting]) {
      const job = await ended(() => cluster.nextUrl(), client.key, jobId);
      expect(job).toMatchObject({ status: "completed", attempts: 1 });
    }
    expect(await followed).toMatchObject({ text: wordsText(100), endings: ["done"], positionsLost: 0 });
    expect(island.runtime.begun.filter((prompt) => prompt === wordsPrompt(100, 40))).toHaveLength(2);
  });
});
