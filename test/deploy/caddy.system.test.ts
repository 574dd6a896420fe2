import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ended, followAnywhere, jobAt, submitWords } from "../cluster/requests.ts";
import { WordIsland } from "../cluster/word-island.ts";
import { wordsText } from "../cluster/word-runtime.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Cluster } from "../support/network/cluster.ts";
import { jobEvents } from "../support/http/http.ts";
import { Caddy } from "./caddy.ts";

const CADDYFILE = join(import.meta.dirname, "..", "..", "deploy", "Caddyfile");

describe("deploy/Caddyfile with three coordinators", () => {
  let cluster: Cluster;
  let caddy: Caddy;
  let client: NewAccount;
  let owner: NewAccount;

  beforeAll(async () => {
    cluster = await Cluster.open();
    caddy = await Caddy.start(cluster.members.map(({ port }) => port));
    client = cluster.createAccount("client@example.com");
    owner = cluster.createAccount("owner@example.com", 0);
  });
  beforeEach(() => cluster.repair());
  afterAll(async () => {
    await caddy[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it("is valid, and formatted with `caddy fmt`", () => {
    const env = { ...process.env, ATOLL_DOMAIN: "atoll.example" };
    const validated = spawnSync("caddy", ["validate", "--adapter", "caddyfile", "--config", CADDYFILE], { env });
    expect({ code: validated.status, text: String(validated.stderr) }).toMatchObject({ code: 0 });
    expect(String(spawnSync("caddy", ["fmt", CADDYFILE], { env }).stdout)).toBe(readFileSync(CADDYFILE, "utf8"));
  });

  it("proxies Island sessions, and forwards tokens without delay", async () => {
    await using _island = await WordIsland.open({ urls: [caddy.url], owner });
    const jobId = await submitWords(caddy.url, client.key, 40, 50);
    let text = "";
    for await (const { event, data } of jobEvents(caddy.url, client.key, jobId)) {
      if (event === "token") text += data.content;
      // The first token arrives long before the last one is generated.
      if (text === wordsText(1)) expect(await jobAt(caddy.url, client.key, jobId)).toMatchObject({ status: "running" });
    }
    expect(text).toBe(wordsText(40));
  });

  it("routes the path of each coordinator", async () => {
    for (const [index, member] of cluster.members.entries()) {
      await using island = await WordIsland.open({ urls: [`${caddy.url}/c${index + 1}`], owner });
      const jobId = await submitWords(member.url, client.key, 2, 1);
      expect(await ended(() => member.url, client.key, jobId)).toMatchObject({ output: wordsText(2) });
      expect(island.runtime.begun).toHaveLength(1);
    }
  });

  it("serves all requests while a coordinator is killed, and streams continue at another one", async () => {
    await using _island = await WordIsland.open({ urls: [caddy.url], owner });
    for (const victim of cluster.members) {
      const jobId = await submitWords(caddy.url, client.key, 60, 40);
      const followed = followAnywhere(() => caddy.url, client.key, jobId);
      const reads = [await jobAt(caddy.url, client.key, jobId)];
      const dying = victim.end("SIGKILL");
      for (let n = 0; n < 20; n += 1) reads.push(await jobAt(caddy.url, client.key, jobId));
      await dying;
      expect(reads.map((job: { id: string }) => job.id)).toEqual(Array.from({ length: 21 }, () => jobId));
      const next = await submitWords(caddy.url, client.key, 1, 1);
      expect(await followed).toMatchObject({ text: wordsText(60), endings: ["done"], positionsLost: 0 });
      expect(await ended(() => caddy.url, client.key, next)).toMatchObject({ status: "completed", attempts: 1 });
      await victim.start();
    }
  });
});
