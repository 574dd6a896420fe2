import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../support/network/cluster.ts";
import { textOf } from "../support/http/http.ts";
import { hasFileAt, OlderVersion } from "../support/network/older-version.ts";
import { ended, eventsAt, followAnywhere, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

/** A file that exists in every version that is compatible with this version's database and bus messages. */
const SINCE = "coordinator/cluster/peer-streams.ts";

const hasPrevious = hasFileAt("HEAD~1", SINCE);
if (!hasPrevious)
  process.stderr.write(
    "No test of two versions: the previous commit is not there, or shares no database or messages\n",
  );

let older: OlderVersion;
const previous = (): string => older.program;

describe("the coordinator of the previous commit in a cluster with the current one", () => {
  beforeAll(async () => {
    older = await OlderVersion.open("HEAD~1");
  });
  afterAll(() => older[Symbol.asyncDispose]());

  it.runIf(hasPrevious)("serves the same jobs, streams and Islands from the same tables", async () => {
    await using cluster = await Cluster.open({
      coordinators: 2,
      programOf: (index) => (index === 0 ? previous() : "coordinator"),
    });
    const client = cluster.createAccount("client@example.com");
    const owner = cluster.createAccount("owner@example.com", 0);
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const jobId = await submitWords(cluster.at(from).url, client.key, 40, 5);
      expect(textOf(await eventsAt(cluster.at(to).url, client.key, jobId))).toBe(wordsText(40));
      expect(await ended(() => cluster.at(to).url, client.key, jobId)).toMatchObject({ attempts: 1 });
    }
  });

  it.runIf(hasPrevious)("is replaced in a rolling upgrade without new attempts of running jobs", async () => {
    await using cluster = await Cluster.open({ coordinators: 2, programOf: previous });
    const client = cluster.createAccount("client@example.com");
    const owner = cluster.createAccount("owner@example.com", 0);
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(cluster.at(0).url, client.key, 400, 30);
    await running(cluster.at(1).url, client.key, jobId);
    const followed = followAnywhere(() => cluster.nextUrl(), client.key, jobId);
    for (const member of cluster.members) {
      expect((await member.end("SIGTERM")).code).toBe(0);
      await member.start("coordinator");
    }
    expect(await followed).toMatchObject({ text: wordsText(400), endings: ["done"] });
    expect(await ended(() => cluster.at(0).url, client.key, jobId)).toMatchObject({ status: "completed", attempts: 1 });
  });
});
