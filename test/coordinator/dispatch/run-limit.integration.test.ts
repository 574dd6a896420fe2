import { expect, it } from "vitest";
import { beginFrames, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

it("run_limit_s limits the run of every Cargo and is sent to the Island", async () => {
  await using coordinator = await TestCoordinator.open({ runLimitS: 0.05 });
  const { key, islandToken } = await coordinator.createAccount("client@example.com");
  await using island = await FakeIsland.join(coordinator.url, islandToken);
  const { body } = await call(coordinator.url, key, "POST", "/jobs", {
    workload: "tiny-chat",
    input: { prompt: "Hi" },
  });
  const assign = await island.next("assign");
  expect(assign.runLimitMs).toBe(50);
  island.send(...beginFrames(assign), outputFrame(assign, 1, "a"));
  const job = await until(
    () => call(coordinator.url, key, "GET", `/jobs/${body.data.id}`),
    (answer) => answer.body.data.status === "timeout",
    "timeout",
  );
  expect(job.body.data.error.code).toBe("run_timeout");
});
