import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster, LEASE_MS } from "../support/network/cluster.ts";
import { call, textOf } from "../support/http/http.ts";
import { ended, eventsAt, followAnywhere, jobAt, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsPrompt, wordsText } from "./word-runtime.ts";

let cluster: Cluster;
let client: NewAccount;
let owner: NewAccount;

/** Time that a chat waits for readers: `island_grace_s` of these clusters. */
const GRACE_MS = 5_000;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const healthOf = async (index: number): Promise<string> =>
  (await call(cluster.at(index).url, null, "GET", "/health")).body.status as string;
const allHealthy = (): Promise<void> =>
  expect.poll(async () => await Promise.all([0, 1, 2].map(healthOf)), { timeout: 60_000 }).toEqual(["ok", "ok", "ok"]);

describe("a coordinator", () => {
  beforeEach(async () => {
    cluster = await Cluster.open();
    client = cluster.createAccount("client@example.com");
    owner = cluster.createAccount("owner@example.com", 0);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  it("without NATS continues its own jobs, reports the failure, responds 503 for other jobs, and recovers", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    await using _other = await WordIsland.open({ urls: cluster.islandUrls(1), owner });
    const far = await submitWords(cluster.at(1).url, client.key, 400, 30);
    await running(cluster.at(1).url, client.key, far);
    cluster.at(0).bus.sever();
    await expect.poll(() => healthOf(0), { timeout: 10_000 }).toBe("degraded");
    const own = await submitWords(cluster.at(0).url, client.key, 20, 5);
    expect(textOf(await eventsAt(cluster.at(0).url, client.key, own))).toBe(wordsText(20));
    const refused = await call(cluster.at(0).url, client.key, "GET", `/jobs/${far}/stream`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    cluster.at(0).bus.heal();
    await allHealthy();
    const followed = await followAnywhere(() => cluster.at(0).url, client.key, far);
    expect(followed.text).toBe(wordsText(400));
    expect(island.agent.status().reconnects).toBe(0);
  });

  it("recovers with all others after NATS was killed and restarted", async () => {
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 200, 30);
    await running(cluster.at(0).url, client.key, jobId);
    const stream = eventsAt(cluster.at(0).url, client.key, jobId);
    await cluster.nats.kill();
    await expect
      .poll(async () => await Promise.all([0, 1, 2].map(healthOf)), { timeout: 10_000 })
      .toEqual(Array(3).fill("degraded"));
    await cluster.nats.startAgain();
    await allHealthy();
    expect(textOf(await stream)).toBe(wordsText(200));
    // The bus works again, so that a job of one coordinator can be streamed at another.
    const next = await submitWords(cluster.at(0).url, client.key, 20, 5);
    expect(textOf(await eventsAt(cluster.at(2).url, client.key, next))).toBe(wordsText(20));
  });

  it("keeps chats of clients at other coordinators if NATS is down for longer than the grace period", async () => {
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(1), owner });
    // The job moves to the Island's coordinator, while its client waits at this one.
    const messages = [{ role: "user", content: wordsPrompt(700, 30) }];
    const chat = call(cluster.at(0).url, client.key, "POST", "/chat/completions", { model: "tiny-chat", messages });
    await expect
      .poll(() => cluster.read<string>("SELECT count(*) FROM jobs WHERE state = 'running'"), { timeout: 10_000 })
      .toBe("1");
    await cluster.nats.kill();
    await wait(GRACE_MS + 11_000);
    await cluster.nats.startAgain();
    const { status, body } = await chat;
    expect([status, body.choices?.[0]?.message.content]).toEqual([200, wordsText(700)]);
  });

  it("without PostgreSQL for longer than its lease rejects new work, continues streams, and recovers without a restart", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 400, 30);
    await running(cluster.at(0).url, client.key, jobId);
    const stream = followAnywhere(() => cluster.at(0).url, client.key, jobId);
    cluster.at(0).store.sever();
    const submit = async (): Promise<number> => {
      const body = { workload: "tiny-chat", input: { prompt: "1 words every 1 ms" } };
      return (await call(cluster.at(0).url, client.key, "POST", "/jobs", body)).status;
    };
    await expect.poll(submit, { timeout: 20_000 }).toBe(503);
    await wait(LEASE_MS);
    cluster.at(0).heal();
    await expect.poll(submit, { timeout: 20_000 }).toBe(201);
    expect(await stream).toMatchObject({ text: wordsText(400), endings: ["done"] });
    expect(await ended(() => cluster.at(1).url, client.key, jobId)).toMatchObject({ status: "completed" });
    expect(cluster.at(0).isUp).toBe(true);
    expect(island.agent.status().running).toEqual([]);
  });

  it("loses Islands whose link breaks, and their jobs, to another coordinator", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 150, 30);
    await running(cluster.at(0).url, client.key, jobId);
    const stream = eventsAt(cluster.at(0).url, client.key, jobId);
    cluster.at(0).islands.sever();
    await island.untilAwayFrom(cluster.at(0).islands.url);
    // Its stream continues through the coordinator that the Island left.
    expect(textOf(await stream)).toBe(wordsText(150));
    expect(await jobAt(cluster.at(1).url, client.key, jobId)).toMatchObject({ status: "completed", attempts: 1 });
  });

  it("disconnects an Island with a stalled connection after 2.5 heartbeats", async () => {
    await using island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 400, 30);
    await running(cluster.at(0).url, client.key, jobId);
    cluster.at(0).islands.stall("both");
    await island.untilAwayFrom(cluster.at(0).islands.url);
    const job = await ended(() => cluster.at(2).url, client.key, jobId);
    expect(job).toMatchObject({ status: "completed", output: wordsText(400) });
    cluster.at(0).heal();
  });
});
