import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { failedFrame, finishedFrame } from "../../support/attempt-frames.ts";
import { FakeIsland } from "../../support/fake-island.ts";
import { call } from "../../support/http.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";

/** Rounds of each race, run in lanes beside each other so that they share commits. */
const ROUNDS = 1_000;
/** Of batches, each of which is several requests and jobs. */
const BATCH_ROUNDS = 400;
/** So many that no account makes more keys in a minute than it may. */
const LANES = 25;
/** Of a tiny-chat job, in credits. */
const PRICE = 0.01;
const JOB = { workload: "tiny-chat", input: { prompt: "Hi" } };
/** Of two jobs, so that one of them can end in a batch that has not. */
const BATCH = { workload: JOB.workload, inputs: [JOB.input, JOB.input] };
const UNLIMITED = { requestsPerMinute: 1_000_000, concurrentJobs: 1_000, concurrentStreams: 1_000 };

let coordinator: TestCoordinator;
beforeAll(async () => {
  // Few heartbeats: the Island of this file sends none.
  coordinator = await TestCoordinator.open({ publicRequestsPerMinute: 1_000_000, heartbeatS: 3_600 });
  const cargo = (await call(coordinator.url, null, "GET", `/cargos/${JOB.workload}`)).body.data;
  expect(cargo.price_per_job).toBe(PRICE);
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const api = (key: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(coordinator.url, key, method, path, body, headers);
const submit = (key: string, headers: Record<string, string> = {}) => api(key, "POST", "/jobs", JOB, headers);
const cancel = async (key: string, jobId: string): Promise<void> => {
  expect((await api(key, "DELETE", `/jobs/${jobId}`)).status).toBe(200);
};
const creditsOf = async (key: string): Promise<number> =>
  (await api(key, "GET", "/account")).body.data.credits as number;
const statusesOf = (answers: readonly { status: number }[]): number[] =>
  answers.map(({ status }) => status).sort((a, b) => a - b);

/** Runs `round` so often: rounds of a lane one after the other, lanes at once. */
async function race(round: (lane: number, index: number) => Promise<void>, rounds = ROUNDS): Promise<void> {
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let index = lane; index < rounds; index += LANES) await round(lane, index);
  });
  await Promise.all(lanes);
  expect(coordinator.fatal).toEqual([]);
  const report = await coordinator.withStore((store) => store.ledger.verify());
  expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
}

describe(`${ROUNDS} races of two clients, ${BATCH_ROUNDS} with batches`, () => {
  it("on the last credit: one job is accepted, the other is 402", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("last-credit", PRICE);
    await race(async (lane) => {
      const key = keys[lane] as string;
      const answers = await Promise.all([submit(key), submit(key)]);
      expect(statusesOf(answers)).toEqual([201, 402]);
      await cancel(key, answers.find(({ status }) => status === 201)?.body.data.id);
    });
    for (const key of keys) expect(await creditsOf(key)).toBe(PRICE);
  });

  it("on one Idempotency-Key: both are told of the same one job", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("idempotency", PRICE);
    await race(async (lane, index) => {
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

  it("on one API-key's revocation: one revokes it, and it is worth nothing after", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("revocation", PRICE);
    await race(async (lane) => {
      const key = keys[lane] as string;
      const made = (await api(key, "POST", "/api-keys", {})).body as { id: string; key: string };
      const revoke = () => api(key, "DELETE", `/api-keys/${made.id}`);
      const [first, job, second] = await Promise.all([revoke(), submit(made.key), revoke()]);
      expect(statusesOf([first, second])).toEqual([200, 404]);
      // The key works until its revocation is durable, and its job is as good as any other.
      expect([201, 401]).toContain(job.status);
      expect((await submit(made.key)).status).toBe(401);
      if (job.status === 201) await cancel(key, job.body.data.id);
    });
    for (const key of keys) {
      expect((await api(key, "GET", "/api-keys")).body.data).toHaveLength(1);
      expect(await creditsOf(key)).toBe(PRICE);
    }
  });

  it("on cancel against completion: it is charged if it completed, and only then", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("completion", ROUNDS * PRICE);
    const owner = await coordinator.createAccount("owner@example.com", 0, UNLIMITED);
    await using island = await FakeIsland.join(coordinator.url, owner.islandToken, { slots: LANES });
    const completed = Array.from({ length: LANES }, () => 0);
    await race(async (lane, index) => {
      const key = keys[lane] as string;
      const jobId = (await submit(key)).body.data.id as string;
      const assign = await island.next("assign", (frame) => frame.jobId === jobId);
      const { attempt } = assign;
      island.send({ type: "started", jobId, attempt });
      const cancelled = api(key, "DELETE", `/jobs/${jobId}`);
      await headStart(index);
      island.send(finishedFrame(assign, 1, { completionTokens: 1 }));
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
    // Each has won: otherwise this was no race.
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThan(ROUNDS);
  });

  it("on one Idempotency-Key of a batch: both are told of the same one batch", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("batch-idempotency", 2 * PRICE);
    await race(async (lane, index) => {
      const key = keys[lane] as string;
      const headers = { "idempotency-key": `round-${index}` };
      const [first, second] = await Promise.all([submitBatch(key, headers), submitBatch(key, headers)]);
      expect(statusesOf([first, second])).toEqual([201, 201]);
      const [one, other] = [first.body.data, second.body.data];
      expect([other.id, idsOf(other)]).toEqual([one.id, idsOf(one)]);
      await cancelBatch(key, one.id);
    }, BATCH_ROUNDS);
    for (const key of keys) {
      expect((await api(key, "GET", "/jobs?status=cancelled")).body.meta.total).toBe((2 * BATCH_ROUNDS) / LANES);
      expect((await api(key, "GET", "/jobs")).body.meta.total).toBe((2 * BATCH_ROUNDS) / LANES);
      expect(await creditsOf(key)).toBeCloseTo(2 * PRICE, 6);
    }
  });

  it(
    "on a batch's cancel against the completion of its jobs: those that completed are charged",
    { timeout: 240_000 },
    async () => {
      const keys = await makeKeys("batch-completion", 2 * BATCH_ROUNDS * PRICE);
      const owner = await coordinator.createAccount("batch-owner@example.com", 0, UNLIMITED);
      await using island = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        slots: 2 * LANES,
      });
      const assignments = new Assignments(island);
      const completed = new Map<string, number>();
      await race(async (lane, index) => {
        const key = keys[lane] as string;
        const batch = (await submitBatch(key)).body.data as Batch;
        const held = await assignments.ofBatch(batch);
        const [one, other] = held;
        const cancelled = api(key, "DELETE", `/jobs/batch/${batch.id}`);
        await headStart(index);
        island.send(finishedFrame(one.assign, 1, { completionTokens: 1 }));
        await headStart(index >> 3);
        island.send(finishedFrame(other.assign, 1, { completionTokens: 1 }));
        await acked(held);
        const { status, body } = await cancelled;
        const { counts, status: shown } = (await api(key, "GET", `/jobs/batch/${batch.id}`)).body.data as Batch;
        expect(counts["completed"] + counts["cancelled"]).toBe(2);
        if (status === 200) expect(shown).toBe("cancelled");
        else
          expect([status, body.error.code, shown, counts["completed"]]).toEqual([
            422,
            "job_not_cancellable",
            "completed",
            2,
          ]);
        completed.set(key, (completed.get(key) ?? 0) + counts["completed"]);
      }, BATCH_ROUNDS);
      await expectCharged(completed, 2 * BATCH_ROUNDS, owner.key);
    },
  );

  it(
    "on a batch's fail_fast against the completion of its others: those that completed are charged",
    { timeout: 240_000 },
    async () => {
      const keys = await makeKeys("batch-fail-fast", 2 * BATCH_ROUNDS * PRICE);
      const owner = await coordinator.createAccount("fast-owner@example.com", 0, UNLIMITED);
      // Two Islands, whose frames come in any order.
      await using first = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        slots: LANES,
      });
      await using second = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        slots: LANES,
      });
      const assignments = new Assignments(first, second);
      const completed = new Map<string, number>();
      await race(async (lane, index) => {
        const key = keys[lane] as string;
        const batch = (await submitBatch(key, {}, "fail_fast")).body.data as Batch;
        const held = await assignments.ofBatch(batch);
        const [failing, finishing] = held;
        const isEarly = index % 2 === 0;
        const frames = [
          () => failing.island.send(failedFrame(failing.assign, 1, "invalid_input")),
          () => finishing.island.send(finishedFrame(finishing.assign, 1, { completionTokens: 1 })),
        ];
        for (const send of isEarly ? frames : frames.toReversed()) send();
        await acked(held);
        const { counts, status } = (await api(key, "GET", `/jobs/batch/${batch.id}`)).body.data as Batch;
        expect([status, counts["failed"], counts["completed"] + counts["cancelled"]]).toEqual(["failed", 1, 1]);
        completed.set(key, (completed.get(key) ?? 0) + counts["completed"]);
      }, BATCH_ROUNDS);
      await expectCharged(completed, BATCH_ROUNDS, owner.key);
    },
  );
});

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly counts: Readonly<Record<"completed" | "cancelled" | "failed", number>>;
  readonly jobs: readonly { readonly id: string }[];
}
interface Held {
  readonly island: FakeIsland;
  readonly assign: Assign;
}

const submitBatch = (key: string, headers: Record<string, string> = {}, failMode = "best_effort") =>
  api(key, "POST", "/jobs/batch", { ...BATCH, fail_mode: failMode }, headers);
const cancelBatch = async (key: string, batchId: string): Promise<void> => {
  expect((await api(key, "DELETE", `/jobs/batch/${batchId}`)).status).toBe(200);
};
const idsOf = ({ jobs }: Batch): string[] => jobs.map(({ id }) => id);

/** Gives whoever was asked before a head start that differs from round to round, so that either may win. */
async function headStart(index: number): Promise<void> {
  for (let turns = index % 40; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Takes all assignments of some Islands, as one cannot know to which of them a job comes. */
class Assignments {
  readonly #held = new Map<string, PromiseWithResolvers<Held>>();

  constructor(...islands: readonly FakeIsland[]) {
    // Ends with the session.
    for (const island of islands) void this.#take(island).catch(() => undefined);
  }

  /** Those of a batch's two jobs, in order. */
  async ofBatch({ jobs }: Batch): Promise<[Held, Held]> {
    return (await Promise.all(jobs.map(({ id }) => this.#of(id).promise))) as [Held, Held];
  }

  #of(jobId: string): PromiseWithResolvers<Held> {
    const held = this.#held.get(jobId) ?? Promise.withResolvers<Held>();
    this.#held.set(jobId, held);
    return held;
  }

  async #take(island: FakeIsland): Promise<never> {
    for (;;) {
      const assign = await island.next("assign");
      this.#of(assign.jobId).resolve({ island, assign });
    }
  }
}

/** Resolves when the coordinator has acted on the first numbered frame of each. */
async function acked(held: readonly Held[]): Promise<void> {
  await Promise.all(held.map(({ island, assign }) => island.next("ack", ({ jobId }) => jobId === assign.jobId)));
}

/** What was charged and earned is the price of all that completed; both sides have won. `most`: as many as could complete. */
async function expectCharged(completed: ReadonlyMap<string, number>, most: number, ownerKey: string): Promise<void> {
  let all = 0;
  for (const [key, count] of completed) {
    expect(await creditsOf(key)).toBeCloseTo(PRICE * (2 * BATCH_ROUNDS - count), 6);
    all += count;
  }
  expect(await creditsOf(ownerKey)).toBeCloseTo(all * PRICE * 0.9, 6);
  expect(all).toBeGreaterThan(0);
  expect(all).toBeLessThan(most);
}

/** API keys of new accounts, one for each lane. */
async function makeKeys(name: string, credits: number): Promise<string[]> {
  const keys: string[] = [];
  for (let lane = 0; lane < LANES; lane += 1) {
    keys.push((await coordinator.createAccount(`${name}-${lane}@example.com`, credits, UNLIMITED)).key);
  }
  return keys;
}
