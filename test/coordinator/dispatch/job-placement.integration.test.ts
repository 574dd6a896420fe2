import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { call } from "../../support/http/http.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { signIn } from "../../support/operator.ts";

it("GET /jobs/{id} shows only to an operator's session why an Island was chosen", async () => {
  await using coordinator = await TestCoordinator.open();
  const operator = await signIn(coordinator, "op@example.com", { isOperator: true });
  const host = await coordinator.createAccount("host@example.com");
  const ask = (key: string, method: string, path: string, body?: unknown) =>
    call(coordinator.url, key, method, path, body);
  const hostId = randomUUID();
  await using island = await FakeIsland.join(coordinator.url, host.islandToken, { hostId });
  const submission = { workload: "tiny-chat", input: { prompt: "hi" } };
  const submit = async (key: string): Promise<string> => (await ask(key, "POST", "/jobs", submission)).body.data.id;
  const placementOf = async (key: string, jobId: string) =>
    (await ask(key, "GET", `/jobs/${jobId}`)).body.data.placement;

  const jobId = await submit(operator);
  await island.next("assign", (frame) => frame.jobId === jobId);
  const placement = await placementOf(operator, jobId);
  expect(placement).toMatchObject({ island_id: hostId, candidates: [{ island_id: hostId }], reserved_island_id: null });
  expect(["cost", "trial"]).toContain(placement.reason);
  const { risk, cost_ms, slowdown_ms, wait_ms, load_ms, read_ms, write_ms, rtt_ms } = placement.candidates[0];
  const sum = wait_ms + load_ms + read_ms + write_ms + rtt_ms + slowdown_ms;
  expect(Math.abs(cost_ms - sum * risk)).toBeLessThan(6 + cost_ms / 100);

  const { body: made } = await ask(operator, "POST", "/api-keys", { name: "own", scopes: "read" });
  expect(await placementOf(made.key, jobId)).toBeNull();
  await ask(operator, "DELETE", `/jobs/${jobId}`);
  expect(await placementOf(operator, jobId)).toEqual(placement);
  expect(await placementOf(host.key, await submit(host.key))).toBeNull();
});
