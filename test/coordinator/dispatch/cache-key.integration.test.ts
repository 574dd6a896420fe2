import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

it("assign has a cache key that is specific to account and Island, stays the same after a restart, and identifies neither", async () => {
  await using coordinator = await TestCoordinator.open({ islandGraceS: 0 });
  const [ann, ben] = [
    await coordinator.createAccount("ann@a.example"),
    await coordinator.createAccount("ben@b.example"),
  ];
  const submit = async (key: string): Promise<string> => {
    const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
    return (await call(coordinator.url, key, "POST", "/jobs", job)).body.data.id as string;
  };
  const keysOn = async (hostId: string): Promise<(string | undefined)[]> => {
    await using island = await FakeIsland.join(coordinator.url, ben.islandToken, { hostId });
    const keys: (string | undefined)[] = [];
    for (const { key } of [ann, ann, ben]) {
      const jobId = await submit(key);
      keys.push((await island.next("assign", (assign) => assign.jobId === jobId)).cacheKey);
      await call(coordinator.url, key, "DELETE", `/jobs/${jobId}`);
    }
    return keys;
  };
  const [first, second] = [randomUUID(), randomUUID()];
  const [annHere, annAgain, benHere] = await keysOn(first);
  expect(annHere).toMatch(/^[\w-]{43}$/);
  expect(annAgain).toBe(annHere);
  await coordinator.stop();
  await coordinator.start();
  expect(await keysOn(first)).toEqual([annHere, annHere, benHere]);
  const [annThere, , benThere] = await keysOn(second);
  expect(new Set([annHere, benHere, annThere, benThere]).size).toBe(4);
});
