import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { failedFrame, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import {
  api,
  coordinator,
  creditsOf,
  headStart,
  JOB,
  LANES,
  makeKeys,
  PRICE,
  race,
  RESULT,
  RUNTIMES,
  statusesOf,
  UNLIMITED,
} from "./race-world.ts";

/** Rounds of each race. Each round takes several requests and jobs. */
const ROUNDS = soakRounds(400);
/** Two jobs per batch, so that one can end before its batch. */
const BATCH = { workload: JOB.workload, inputs: [JOB.input, JOB.input] };

describe(`${ROUNDS} races of two clients with batches`, () => {
  it("on one Idempotency-Key of a batch give both clients the same batch", { timeout: 240_000 }, async () => {
    const keys = await makeKeys("batch-idempotency", 2 * PRICE);
    await race(ROUNDS, async (lane, index) => {
      const key = keys[lane] as string;
      const headers = { "idempotency-key": `round-${index}` };
      const [first, second] = await Promise.all([submitBatch(key, headers), submitBatch(key, headers)]);
      expect(statusesOf([first, second])).toEqual([201, 201]);
      const [one, other] = [first.body.data, second.body.data];
      expect([other.id, idsOf(other)]).toEqual([one.id, idsOf(one)]);
      await cancelBatch(key, one.id);
    });
    for (const key of keys) {
      expect((await api(key, "GET", "/jobs?status=cancelled")).body.meta.total).toBe((2 * ROUNDS) / LANES);
      expect((await api(key, "GET", "/jobs")).body.meta.total).toBe((2 * ROUNDS) / LANES);
      expect(await creditsOf(key)).toBeCloseTo(2 * PRICE, 6);
    }
  });

  it(
    "between the cancellation of a batch and the completion of its jobs charge only the jobs that completed",
    { timeout: 240_000 },
    async () => {
      const keys = await makeKeys("batch-completion", 2 * ROUNDS * PRICE);
      const { owner, creditsBefore } = await batchOwner();
      await using island = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        runtimes: RUNTIMES,
        slots: 2 * LANES,
      });
      const assignments = new Assignments(island);
      const completed = new Map<string, number>();
      await race(ROUNDS, async (lane, index) => {
        const key = keys[lane] as string;
        const batch = (await submitBatch(key)).body.data as Batch;
        const held = await assignments.ofBatch(batch);
        const [one, other] = held;
        // In some rounds the completion starts first, because otherwise the cancellation could win all rounds.
        const isFirst = index % 4 === 0;
        if (isFirst) island.send(finishedFrame(one.assign, 1, RESULT));
        const cancelled = api(key, "DELETE", `/jobs/batch/${batch.id}`);
        await headStart(index);
        if (!isFirst) island.send(finishedFrame(one.assign, 1, RESULT));
        await headStart(index >> 3);
        island.send(finishedFrame(other.assign, 1, RESULT));
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
      });
      await expectCharged(completed, 2 * ROUNDS, owner.key, creditsBefore);
    },
  );

  it(
    "between a batch's fail_fast and the completion of its other jobs charge only the jobs that completed",
    { timeout: 240_000 },
    async () => {
      const keys = await makeKeys("batch-fail-fast", 2 * ROUNDS * PRICE);
      const { owner, creditsBefore } = await batchOwner();
      // Frames of two Islands arrive in any order.
      await using first = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        runtimes: RUNTIMES,
        slots: LANES,
      });
      await using second = await FakeIsland.join(coordinator.url, owner.islandToken, {
        hostId: randomUUID(),
        runtimes: RUNTIMES,
        slots: LANES,
      });
      const assignments = new Assignments(first, second);
      const completed = new Map<string, number>();
      await race(ROUNDS, async (lane, index) => {
        const key = keys[lane] as string;
        const batch = (await submitBatch(key, {}, "fail_fast")).body.data as Batch;
        const held = await assignments.ofBatch(batch);
        const [failing, finishing] = held;
        const isEarly = index % 2 === 0;
        const frames = [
          () => failing.island.send(failedFrame(failing.assign, 1, "invalid_input")),
          () => finishing.island.send(finishedFrame(finishing.assign, 1, RESULT)),
        ];
        for (const send of isEarly ? frames : frames.toReversed()) send();
        await acked(held);
        const { counts, status } = (await api(key, "GET", `/jobs/batch/${batch.id}`)).body.data as Batch;
        expect([status, counts["failed"], counts["completed"] + counts["cancelled"]]).toEqual(["failed", 1, 1]);
        completed.set(key, (completed.get(key) ?? 0) + counts["completed"]);
      });
      await expectCharged(completed, ROUNDS, owner.key, creditsBefore);
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

let created: ReturnType<typeof coordinator.createAccount> | null = null;

/** Returns the owner of all Islands. Another owner could audit its jobs, and would thus delay its earnings. */
async function batchOwner() {
  const owner = await (created ??= coordinator.createAccount("batch-owner@example.com", 0, UNLIMITED));
  return { owner, creditsBefore: await creditsOf(owner.key) };
}

const submitBatch = (key: string, headers: Record<string, string> = {}, failMode = "best_effort") =>
  api(key, "POST", "/jobs/batch", { ...BATCH, fail_mode: failMode }, headers);
const cancelBatch = async (key: string, batchId: string): Promise<void> => {
  expect((await api(key, "DELETE", `/jobs/batch/${batchId}`)).status).toBe(200);
};
const idsOf = ({ jobs }: Batch): string[] => jobs.map(({ id }) => id);

/** Takes the assignments of several Islands, since any of them may get a job. */
class Assignments {
  readonly #held = new Map<string, PromiseWithResolvers<Held>>();

  constructor(...islands: readonly FakeIsland[]) {
    // The loop ends with the session.
    for (const island of islands) void this.#take(island).catch(() => undefined);
  }

  /** Returns the assignments of a batch's two jobs, in order. */
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

/** Resolves when the coordinator has acknowledged the first numbered frame of each. */
async function acked(held: readonly Held[]): Promise<void> {
  await Promise.all(held.map(({ island, assign }) => island.next("ack", ({ jobId }) => jobId === assign.jobId)));
}

/**
 * Checks that charges and earnings equal the price of the completed jobs, and that both sides won some rounds. `most`
 * is the number of all jobs.
 */
async function expectCharged(
  completed: ReadonlyMap<string, number>,
  most: number,
  ownerKey: string,
  creditsBefore: number,
): Promise<void> {
  let all = 0;
  for (const [key, count] of completed) {
    expect(await creditsOf(key)).toBeCloseTo(PRICE * (2 * ROUNDS - count), 6);
    all += count;
  }
  expect(await creditsOf(ownerKey)).toBeCloseTo(creditsBefore + all * PRICE * 0.9, 6);
  expect(all).toBeGreaterThan(0);
  expect(all).toBeLessThan(most);
}
