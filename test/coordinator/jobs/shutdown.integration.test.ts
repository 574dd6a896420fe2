import { expect, it } from "vitest";
import { beginFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

it("a chat that ends with the coordinator's shutdown is not an error", async () => {
  await using coordinator = await TestCoordinator.open();
  const { key, islandToken } = await coordinator.createAccount("client@example.com");
  await using island = await FakeIsland.join(coordinator.url, islandToken);
  const body = { messages: [{ role: "user", content: "Hi" }] };
  const chat = call(coordinator.url, key, "POST", "/chat/completions", body).catch(() => "cut");
  const assign = await island.next("assign");
  island.send(...beginFrames(assign));
  await coordinator.stop();
  expect(await chat).toBe("cut");
  await coordinator.start();
  expect(coordinator.fatal).toEqual([]);
});
