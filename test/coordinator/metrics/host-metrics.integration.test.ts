import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const PRICE = 1_000_000;

/** Completes the assigned job with one token. */
async function finish(island: FakeIsland, jobId?: string): Promise<void> {
  const { jobId: id, attempt } = await island.next("assign", (frame) => jobId === undefined || frame.jobId === jobId);
  const frame = { jobId: id, attempt };
  island.send(
    { type: "accepted", ...frame },
    { type: "started", ...frame },
    { type: "output", ...frame, seq: 1, items: [{ type: "token", content: "hi", count: 1 }] },
    {
      type: "finished",
      ...frame,
      seq: 2,
      finishReason: "stop",
      usage: { promptTokens: 1, completionTokens: 1 },
      timings: { loadMs: 0, firstOutputMs: 1, runMs: 1 },
    },
  );
}

describe("the metrics of an Island", () => {
  it("show earnings at once and results once stored, even after a restart", async () => {
    await using coordinator = await TestCoordinator.open();
    const host = await coordinator.createAccount("host@example.com");
    const client = await coordinator.createAccount("client@example.com");
    const hostId = randomUUID();
    const submit = () =>
      call(coordinator.url, client.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    const island = await FakeIsland.join(coordinator.url, host.islandToken, { hostId });
    await submit();
    await finish(island);
    const read = async () => (await call(coordinator.url, host.key, "GET", `/islands/${hostId}`)).body.data;
    const earned = await until(read, ({ earned: { today } }) => today > 0, "earnings");
    const { body: ledger } = await call(coordinator.url, host.key, "GET", "/account/ledger");
    const { amount } = (ledger.data as { kind: string; amount: number }[]).find(({ kind }) => kind === "earning") ?? {};
    expect(earned.earned).toEqual({ today: amount, days_7: amount, days_30: amount });
    expect((amount ?? 0) * PRICE).toBeGreaterThan(0);

    await submit();
    const { jobId, attempt } = await island.next("assign");
    island.send({ type: "failed", jobId, attempt, seq: 1, code: "runtime_crashed", message: "", retryable: true });
    await finish(island, jobId);
    await until(read, ({ earned: { today } }) => today > (amount ?? 0), "earnings of both");
    await island[Symbol.asyncDispose]();
    // Collected counts are stored when the coordinator stops.
    await coordinator.stop();
    await coordinator.start();
    expect(await read()).toMatchObject({
      status: "offline",
      jobs: { completed: 2, failed: 0, cancelled: 0, timeout: 0, retried: 1 },
      tokens: 2,
      earned: { today: 2 * (amount ?? 0) },
    });
    const asAgent = await call(coordinator.url, host.islandToken, "GET", `/island/earnings?host_id=${hostId}`);
    expect(asAgent.body.data).toMatchObject({
      earned: { today: 2 * (amount ?? 0) },
      recent: [{ job_id: jobId, credits: amount }, { credits: amount }],
    });
    for (const [token, status] of [[client.islandToken, 404] as const, [host.key, 401] as const]) {
      const path = `/island/earnings?host_id=${hostId}`;
      expect((await call(coordinator.url, token, "GET", path)).status).toBe(status);
    }
    const leave = (token: string) => call(coordinator.url, token, "DELETE", `/island?host_id=${hostId}`);
    expect((await leave(host.key)).status).toBe(401);
    expect((await leave(client.islandToken)).body.data).toEqual({ id: hostId, removed: false });
    const { uptime, days } = await read();
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toMatchObject({ jobs: { completed: 2, retried: 1 }, tokens: 2, earned: 2 * (amount ?? 0) });
    for (const share of Object.values(uptime as Record<string, number>)) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    expect((await leave(host.islandToken)).body.data).toEqual({ id: hostId, removed: true });
    expect((await call(coordinator.url, host.key, "GET", "/islands")).body.data).toEqual([]);
  });
});
