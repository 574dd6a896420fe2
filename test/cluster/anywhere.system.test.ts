import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Atoll } from "../../sdk/typescript/src/index.ts";
import { accountProblems } from "../support/store/account-books.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster } from "../support/network/cluster.ts";
import { call, textOf } from "../support/http/http.ts";
import { ended, eventsAt, jobAt, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsPrompt, wordsText } from "./word-runtime.ts";

const CREDITS = 1_000;

let cluster: Cluster;
let client: NewAccount;
let island: WordIsland;

describe("three coordinators, with one Island at the first", () => {
  beforeAll(async () => {
    cluster = await Cluster.open();
    client = cluster.createAccount("client@example.com", CREDITS);
    // A separate account earns the credits of the Islands, so that the client's balance changes only by its costs.
    const owner = cluster.createAccount("owner@example.com", 0);
    island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
  });
  afterAll(async () => {
    await island[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const url = (index: number): string => cluster.at(index).url;

  it("a job can be submitted, streamed and read at any of them", async () => {
    const jobId = await submitWords(url(1), client.key, 40, 10);
    const streams = await Promise.all([0, 1, 2].map((index) => eventsAt(url(index), client.key, jobId)));
    for (const events of streams) {
      expect(textOf(events)).toBe(wordsText(40));
      expect(events.at(-1)?.event).toBe("done");
    }
    for (const index of [0, 1, 2]) {
      expect(await jobAt(url(index), client.key, jobId)).toMatchObject({ status: "completed", output: wordsText(40) });
    }
  });

  it("a chat works at any of them", async () => {
    const messages = [{ role: "user", content: wordsPrompt(5, 1) }];
    for (const index of [0, 1, 2]) {
      const { status, body } = await call(url(index), client.key, "POST", "/chat/completions", {
        model: "tiny-chat",
        messages,
      });
      expect([status, body.choices?.[0].message.content]).toEqual([200, wordsText(5)]);
    }
  });

  it.each([
    ["running", 5_000],
    ["waiting", 0],
  ])("a %s job can be cancelled at another coordinator than it was submitted to", async (state, everyMs) => {
    // Other jobs occupy all slots.
    const before =
      state === "waiting" ? await Promise.all([1, 2, 3, 4].map(() => submitWords(url(0), client.key, 2, 60_000))) : [];
    for (const jobId of before) await running(url(0), client.key, jobId);
    const jobId = await submitWords(url(1), client.key, 2, everyMs);
    if (state === "running") await running(url(2), client.key, jobId);
    expect((await call(url(2), client.key, "DELETE", `/jobs/${jobId}`)).status).toBe(200);
    expect(await ended(() => url(1), client.key, jobId)).toMatchObject({ status: "cancelled" });
    for (const id of before) await call(url(2), client.key, "DELETE", `/jobs/${id}`);
    for (const id of before) await ended(() => url(1), client.key, id);
    await expect.poll(() => island.agent.status().running).toEqual([]);
  });

  it("an Idempotency-Key creates one job, even if used at all of them concurrently", async () => {
    const headers = { "idempotency-key": "once" };
    const ids = await Promise.all(
      [0, 1, 2, 0, 1, 2].map((index) => submitWords(url(index), client.key, 3, 1, headers)),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it("the reason why a job waits is available at any of them", async () => {
    const body = { workload: "base64", input: { data: "x" } };
    const { data } = (await call(url(1), client.key, "POST", "/jobs", body)).body;
    const waits = await Promise.all([0, 1, 2].map((index) => jobAt(url(index), client.key, data.id)));
    expect(waits.map(({ waiting }) => waiting.reason)).toEqual(Array(3).fill(waits[0].waiting.reason));
    await call(url(0), client.key, "DELETE", `/jobs/${data.id}`);
  });

  it("a batch completes at another coordinator than it was submitted to", async () => {
    const inputs = Array.from({ length: 6 }, () => ({ prompt: wordsPrompt(3, 5) }));
    const response = await call(url(1), client.key, "POST", "/jobs/batch", { workload: "tiny-chat", inputs });
    expect(response.status).toBe(201);
    const read = async () => (await call(url(2), client.key, "GET", `/jobs/batch/${response.body.data.id}`)).body.data;
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe("completed");
    expect((await read()).counts.completed).toBe(6);
  });

  it("@atoll/client works with one address for all of them", async () => {
    const atoll = new Atoll({ baseUrl: cluster.balancer.url, apiKey: client.key });
    const { id } = await atoll.jobs.submit({ workload: "tiny-chat", input: { prompt: wordsPrompt(20, 5) } });
    let text = "";
    for await (const event of atoll.jobs.stream(id)) if (event.type === "token") text += event.content;
    expect(text).toBe(wordsText(20));
  });

  it("the ledger balances over all of them", async () => {
    expect(await accountProblems(url(2), client.key, CREDITS)).toEqual([]);
    const { code, stdout } = await cluster.manage("ledger", "verify");
    expect([code, stdout]).toEqual([0, expect.any(String)]);
  });
});
