import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLOCK_SHIM, ClockFault } from "../chaos/clock-fault.ts";
import { Cluster, LEASE_MS } from "../support/network/cluster.ts";
import { call } from "../support/http/http.ts";
import { requireDebian } from "../support/servers/require-debian.ts";
import { ended, eventsAt, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

const APART_S = [0, 7 * 60, -11 * 60];

requireDebian(CLOCK_SHIM, "faketime");

describe("coordinators whose clocks are minutes apart", () => {
  it("keep their leases, transfer jobs, and recognize live members", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atoll-clocks-"));
    const clocks = APART_S.map((_, index) => new ClockFault(join(directory, String(index))));
    for (const [index, clock] of clocks.entries()) await clock.step(APART_S[index] ?? 0);
    const environmentOf = (index: number): Record<string, string> => {
      const { preload = [], variables = {} } = clocks[index]?.environment() ?? {};
      return { ...variables, LD_PRELOAD: preload.join(" ") };
    };
    try {
      await using cluster = await Cluster.open({ environmentOf });
      const client = cluster.createAccount("client@example.com");
      const owner = cluster.createAccount("owner@example.com", 0);
      await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
      for (const index of [0, 1, 2]) {
        const jobId = await submitWords(cluster.at(index).url, client.key, 20, 5);
        const events = await eventsAt(cluster.at(index + 1).url, client.key, jobId);
        expect(events.at(-1)?.event).toBe("done");
        expect(await ended(() => cluster.at(index + 2).url, client.key, jobId)).toMatchObject({ attempts: 1 });
      }
      // After more than a lease, a coordinator that considered another one dead would have adopted its jobs.
      const jobId = await submitWords(cluster.at(0).url, client.key, 50, (LEASE_MS * 2) / 50);
      await running(cluster.at(0).url, client.key, jobId);
      const ownerOf = () => cluster.read<string>(`SELECT owner_id FROM jobs WHERE id = '${jobId}'`);
      const before = await ownerOf();
      expect(await ended(() => cluster.at(1).url, client.key, jobId)).toMatchObject({ output: wordsText(50) });
      expect(await ownerOf()).toBe(before);
      expect(Number(await cluster.read<string>("SELECT count(*) FROM coordinators"))).toBe(3);
      expect((await call(cluster.at(2).url, null, "GET", "/health")).status).toBe(200);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
