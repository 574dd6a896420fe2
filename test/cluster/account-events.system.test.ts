import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runFrames } from "../support/network/attempt-frames.ts";
import { Cluster } from "../support/network/cluster.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call } from "../support/http/http.ts";
import { Listener } from "../coordinator/events/listener.ts";

const JOB = { workload: "tiny-chat", input: { prompt: "Hi" } };

describe("account events at three coordinators", () => {
  let cluster: Cluster;
  beforeEach(async () => {
    // The Islands of this test send no heartbeats.
    cluster = await Cluster.open({ flags: ["--heartbeat-s", "3600"] });
    // Waits until all coordinators know each other.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const submitAt = async (index: number, key: string): Promise<string> =>
    (await call(cluster.at(index).url, key, "POST", "/jobs", JOB)).body.data.id;

  it("include the jobs and Islands of all coordinators, and continue at another one after a reset event", async () => {
    const { key, islandToken } = cluster.createAccount("events@example.com");
    const listener = await Listener.open(cluster.at(0).url, { key });
    await listener.next("reset");
    const jobs = await Promise.all([0, 1, 2].map((index) => submitAt(index, key)));
    for (const id of jobs) await listener.next("job", (job) => job.id === id);
    const hostId = randomUUID();
    await using island = await FakeIsland.join(cluster.at(2).url, islandToken, { hostId, slots: 10 });
    await listener.next("island", ({ id, online }) => id === hostId && online === true);
    await listener.close();
    const again = await Listener.open(cluster.at(1).url, { key, lastEventId: "coord_1-1" });
    await again.next("reset");
    for (const id of jobs) {
      const assign = await island.next("assign", ({ jobId }) => jobId === id);
      island.send(...runFrames(assign, "Hi"));
    }
    for (const id of jobs) await again.next("job", (job) => job.id === id && job.status === "completed");
    expect(again.names.filter((name) => name === "reset")).toHaveLength(1);
    const { body } = await call(cluster.at(1).url, key, "GET", "/account");
    await again.next("balance", ({ balance }) => balance === body.data.credits);
    await again.close();
  });

  it("send a reset event after a coordinator dies, and continue with its jobs", async () => {
    const { key, islandToken } = cluster.createAccount("events@example.com");
    const here = await Listener.open(cluster.at(0).url, { key });
    const there = await Listener.open(cluster.at(2).url, { key });
    await Promise.all([here.next("reset"), there.next("reset")]);
    const id = await submitAt(2, key);
    await here.next("job", (job) => job.id === id);
    const resets = (): number => here.names.filter((name) => name === "reset").length;
    expect(resets()).toBe(1);
    await cluster.at(2).end("SIGKILL");
    await there.over;
    await expect.poll(resets, { timeout: 15_000 }).toBe(2);
    const again = await Listener.open(cluster.at(1).url, { key });
    await again.next("reset");
    // Another coordinator adopts the job after the lease has expired.
    await using island = await FakeIsland.join(cluster.at(1).url, islandToken, { hostId: randomUUID() });
    island.send(...runFrames(await island.next("assign"), "Hi"));
    await Promise.all(
      [here, again].map((each) => each.next("job", (job) => job.id === id && job.status === "completed")),
    );
    await Promise.all([here.close(), again.close()]);
  });

  it("end when the session is ended at another coordinator", async () => {
    const credentials = { email: "page@example.com", password: "long enough" };
    const page = { "atoll-console": "1" };
    const begun = await call(cluster.at(0).url, null, "POST", "/auth/register", credentials, page);
    const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const listener = await Listener.open(cluster.at(1).url, { headers: { cookie, ...page } });
    await listener.next("reset");
    await call(cluster.at(2).url, null, "POST", "/auth/logout", undefined, { cookie, ...page });
    await listener.over;
    await expect(Listener.open(cluster.at(0).url, { headers: { cookie, ...page } })).rejects.toThrow(/401/);
  });
});
