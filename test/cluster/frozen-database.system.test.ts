import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster } from "../support/network/cluster.ts";
import { ended, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";

let cluster: Cluster;
let client: NewAccount;
let island: WordIsland;

/** Returns the ids of the server and its forked processes. */
function serverPids(): number[] {
  const { pid } = cluster.postgres;
  if (pid === undefined) throw new Error("PostgreSQL has ended");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return [pid, ...children.map(Number)];
}

describe("a frozen PostgreSQL", () => {
  beforeAll(async () => {
    cluster = await Cluster.open({ coordinators: 2 });
    client = cluster.createAccount("client@example.com", 1_000, { concurrentJobs: 1_000 });
    const owner = cluster.createAccount("owner@example.com", 0);
    island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
  });
  afterAll(async () => {
    await island[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  // Each step of a stop may take 2 s, and more on a busy machine.
  it("does not prevent an orderly shutdown on SIGTERM, and the jobs continue once the server resumes", async () => {
    const jobId = await submitWords(cluster.at(0).url, client.key, 300, 30);
    await running(cluster.at(0).url, client.key, jobId);
    const frozen = serverPids();
    try {
      for (const pid of frozen) process.kill(pid, "SIGSTOP");
      const ending = cluster.at(0).end("SIGTERM");
      const tooLong = new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error("The stop waits for the database")), 25_000).unref();
      });
      expect(await Promise.race([ending, tooLong])).toMatchObject({ code: 0 });
    } finally {
      for (const pid of frozen.toReversed()) process.kill(pid, "SIGCONT");
    }
    expect(await ended(() => cluster.at(1).url, client.key, jobId)).toMatchObject({ status: "completed" });
    await cluster.repair();
  }, 90_000);
});
