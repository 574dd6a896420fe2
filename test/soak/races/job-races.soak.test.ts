import { describe, expect, it } from "vitest";
import { finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import {
  api,
  cancel,
  coordinator,
  creditsOf,
  headStart,
  LANES,
  makeKeys,
  PRICE,
  race,
  RESULT,
  RUNTIMES,
  statusesOf,
  submit,
  UNLIMITED,
} from "./race-world.ts";

/** Rounds of each race. */
const ROUNDS = soakRounds(1_000);

describe(`${ROUNDS} races of two clients`, () => {
  it("on the last credit end with one job accepted, and 402 for the other", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("last-credit", PRICE);
    await race(ROUNDS, async (lane) => {
      const key = keys[lane] as string;
      const responses = await Promise.all([submit(key), submit(key)]);
      expect(statusesOf(responses)).toEqual([201, 402]);
      await cancel(key, responses.find(({ status }) => status === 201)?.body.data.id);
    });
    for (const key of keys) expect(await creditsOf(key)).toBe(PRICE);
  });

  it("on one Idempotency-Key give both clients the same job", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("idempotency", PRICE);
    await race(ROUNDS, async (lane, index) => {
      const key = keys[lane] as string;
      const headers = { "idempotency-key": `round-${index}` };
      const [first, second] = await Promise.all([submit(key, headers), submit(key, headers)]);
      expect(statusesOf([first, second])).toEqual([201, 201]);
      expect(second.body.data).toEqual(first.body.data);
      await cancel(key, first.body.data.id);
    });
    for (const key of keys) {
      expect((await api(key, "GET", "/jobs?status=cancelled")).body.meta.total).toBe(ROUNDS / LANES);
      expect((await api(key, "GET", "/jobs")).body.meta.total).toBe(ROUNDS / LANES);
      expect(await creditsOf(key)).toBe(PRICE);
    }
  });

  it(
    "on the revocation of one API key let one client revoke it, and leave it invalid",
    { timeout: 240_000 },
    async () => {
      const keys = await makeKeys("revocation", PRICE);
      await race(ROUNDS, async (lane) => {
        const key = keys[lane] as string;
        const made = (await api(key, "POST", "/api-keys", {})).body as { id: string; key: string };
        const revoke = () => api(key, "DELETE", `/api-keys/${made.id}`);
        const [first, job, second] = await Promise.all([revoke(), submit(made.key), revoke()]);
        expect(statusesOf([first, second])).toEqual([200, 404]);
        // The key and its job are valid until the revocation is durable.
        expect([201, 401]).toContain(job.status);
        expect((await submit(made.key)).status).toBe(401);
        if (job.status === 201) await cancel(key, job.body.data.id);
      });
      for (const key of keys) {
        expect((await api(key, "GET", "/api-keys")).body.data).toHaveLength(1);
        expect(await creditsOf(key)).toBe(PRICE);
      }
    },
  );

  it("between cancellation and completion charge the job only if it completed", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("completion", ROUNDS * PRICE);
    const owner = await coordinator.createAccount("owner@example.com", 0, UNLIMITED);
    await using island = await FakeIsland.join(coordinator.url, owner.islandToken, {
      runtimes: RUNTIMES,
      slots: LANES,
    });
    const completed = Array.from({ length: LANES }, () => 0);
    await race(ROUNDS, async (lane, index) => {
      const key = keys[lane] as string;
      const jobId = (await submit(key)).body.data.id as string;
      const assign = await island.next("assign", (frame) => frame.jobId === jobId);
      const { attempt } = assign;
      island.send({ type: "started", jobId, attempt });
      const cancelled = api(key, "DELETE", `/jobs/${jobId}`);
      await headStart(index);
      island.send(finishedFrame(assign, 1, RESULT));
      await island.next("ack", (ack) => ack.jobId === jobId);
      const { status, body } = await cancelled;
      const { data } = (await api(key, "GET", `/jobs/${jobId}`)).body;
      if (status === 200) expect([data.status, data.usage.credits_used]).toEqual(["cancelled", 0]);
      else {
        expect([status, body.error.code]).toEqual([422, "job_not_cancellable"]);
        expect([data.status, data.usage.credits_used]).toEqual(["completed", PRICE]);
        completed[lane] = (completed[lane] ?? 0) + 1;
      }
    });
    for (const [lane, key] of keys.entries())
      expect(await creditsOf(key)).toBeCloseTo(PRICE * (ROUNDS - (completed[lane] ?? 0)), 6);
    const all = completed.reduce((sum, count) => sum + count, 0);
    expect(await creditsOf(owner.key)).toBeCloseTo(all * PRICE * 0.9, 6);
    // Each side must have won some rounds.
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThan(ROUNDS);
  });
});
