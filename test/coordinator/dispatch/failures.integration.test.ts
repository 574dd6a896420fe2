import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, failedFrame, runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { call, until } from "../../support/http/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { FIRST_PAUSE_MS, JobWorld } from "../jobs/job-world.ts";
import { ScriptedAgent } from "../jobs/scripted-agent.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

/** This exceeds the duration of any test, so that an Island that failed a job gets no other one. */
const FOR_GOOD_S = 3_600;

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandBackoffS: FOR_GOOD_S });
  account = await coordinator.createAccount("client@example.com", 1_000, { concurrentJobs: 100 });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

/** Expects that neither of the next two jobs goes to `bad`, even while `good` is busy. */
async function expectNoMoreFor(bad: FakeIsland, good: FakeIsland): Promise<void> {
  const jobs = [await submit(), await submit()];
  const served: string[] = [];
  for (const _ of jobs) {
    const assign = await good.next("assign");
    expect(bad.pending("assign")).toEqual([]);
    good.send(...runFrames(assign, "done"));
    served.push(assign.jobId);
  }
  expect(served).toEqual(jobs);
}

const join = (): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID(), slots: 1 });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const detailOf = async (jobId: string) => (await api("GET", `/jobs/${jobId}`)).body.data;
async function submit(workload = "tiny-chat"): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload, input: { prompt: "Hi" } });
  expect(status).toBe(201);
  return body.data.id as string;
}

/** Sends the frames for each assignment at once, until the session ends. Returns the number of assignments. */
async function answerAll(
  island: FakeIsland,
  answer: (assign: Assign) => Parameters<FakeIsland["send"]>,
): Promise<number> {
  for (let count = 0; ; count += 1) {
    const assign = await island.next("assign").catch(() => null);
    if (assign === null) return count;
    island.send(...answer(assign));
  }
}

const refusal = ({ jobId, attempt }: Assign): Parameters<FakeIsland["send"]> => [
  { type: "refused", jobId, attempt, code: "out_of_memory", message: "no room" },
];
const failure = (assign: Assign): Parameters<FakeIsland["send"]> => {
  const { jobId, attempt } = assign;
  const failed = { type: "failed", jobId, attempt, seq: 1, code: "model_unavailable", message: "full" } as const;
  return [...beginFrames(assign), { ...failed, retryable: true }];
};

describe("an idle faulty Island next to a busy good one", () => {
  it.each([
    ["refuses every job at once", refusal, 1],
    ["fails every job at once", failure, 2],
  ])("gets one of 20 jobs and fails none of them if it %s", async (_, answer, mostAttempts) => {
    await using good = await join();
    const first = await submit();
    const held = await good.next("assign");
    await using broken = await join();
    const asked = answerAll(broken, answer);
    const jobs = [first];
    for (let count = 1; count < 20; count += 1) jobs.push(await submit());
    await until(
      async () => (await detailOf(jobs[1] ?? "")).status,
      (status) => status === "pending",
      "the second job waiting again",
    );
    good.send(...runFrames(held, "done"));
    const served = answerAll(good, (assign) => runFrames(assign, "done"));
    for (const jobId of jobs) {
      await until(
        async () => (await detailOf(jobId)).status,
        (status) => status !== "pending" && status !== "queued" && status !== "running",
        `the end of ${jobId}`,
      );
    }
    const ended = await Promise.all(jobs.map(detailOf));
    expect(new Set(ended.map(({ status }) => status as string))).toEqual(new Set(["completed"]));
    expect(Math.max(...ended.map(({ attempts }) => attempts as number))).toBe(mostAttempts);
    broken.socket.close();
    good.socket.close();
    expect([await asked, await served]).toEqual([1, 19]);
  });
});

describe("a machine that uses a new host id for each session", () => {
  it("fails a job at most twice, because the third attempt waits for a busy Island of another account", async () => {
    const other = await coordinator.createAccount("other@example.com", 0);
    await using good = await join();
    await submit();
    const held = await good.next("assign");
    const jobId = await submit();
    const asked: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await using liar = await FakeIsland.join(coordinator.url, other.islandToken, { hostId: randomUUID() });
      await detailOf(jobId);
      const assigns = liar.pending("assign");
      asked.push(assigns.length);
      for (const assign of assigns) liar.send(...failure(assign));
      await until(
        () => detailOf(jobId),
        ({ status }) => status === "pending",
        "the job waiting again",
      );
    }
    expect(asked).toEqual([1, 1, 0, 0]);
    good.send(...runFrames(held, "done"));
    good.send(...runFrames(await good.next("assign"), "done"));
    const { status, attempts } = await until(
      () => detailOf(jobId),
      ({ completed_at }) => completed_at !== null,
      "the job's end",
    );
    expect([status, attempts]).toEqual(["completed", 3]);
  });
});

describe("a job that all Islands refuse", () => {
  it("waits with the number of refusals and their reasons, and no attempt is counted", async () => {
    await using one = await join();
    await using two = await join();
    const answered = [one, two].map((island) => answerAll(island, refusal));
    const jobId = await submit();
    const { waiting, attempts } = await until(
      () => detailOf(jobId),
      // The reason is visible before it is stored.
      (job) => job.waiting?.reason === "all_refused" && job.attempts === 0,
      "both refusals",
    );
    expect(waiting.message).toBe(
      "2 Islands fit, but all recently refused jobs (out_of_memory 2); they are tried again after a growing delay",
    );
    expect(attempts).toBe(0);
    for (const island of [one, two]) island.socket.close();
    expect(await Promise.all(answered)).toEqual([1, 1]);
  });

  it("runs after more refusals than its maximum of attempts, and counts only the attempt that ran", async () => {
    coordinator.withFlags({ islandBackoffS: 0.001 });
    await coordinator.stop();
    await coordinator.start();
    await using island = await join();
    const jobId = await submit();
    for (let refusals = 0; refusals < 5; refusals += 1) island.send(...refusal(await island.next("assign")));
    const assign = await island.next("assign");
    expect(assign.attempt).toBe(6);
    island.send(...runFrames(assign, "done"));
    await island.next("ack", ({ seq }) => seq === 2);
    expect(await detailOf(jobId)).toMatchObject({ status: "completed", attempts: 1 });
  });

  it("keeps the count over a restart", async () => {
    await using island = await join();
    const jobId = await submit();
    island.send(...refusal(await island.next("assign")));
    await until(
      () => detailOf(jobId),
      ({ status }) => status === "pending",
      "the refusal",
    );
    await coordinator.stop();
    await coordinator.start();
    expect(await detailOf(jobId)).toMatchObject({ status: "pending", attempts: 0 });
  });

  it("ends at its wait limit despite refusals, with the reason", async () => {
    using folder = temporaryFolder();
    const clock = new ManualClock();
    const store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
    const accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
    const world = new JobWorld(store, clock);
    const agent = new ScriptedAgent(world, accountId);
    await agent.connect(false);
    const { record } = await world.jobs.submit({
      ...{ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null },
      waitLimitMs: 60_000,
    });
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += FIRST_PAUSE_MS / 2) {
      await agent.act("refuse", 0);
      await world.settle();
      clock.advance(FIRST_PAUSE_MS / 2);
    }
    await world.settle();
    const job = await world.jobs.get(accountId, record.id);
    expect(job).toMatchObject({ state: "timeout", error: { code: "wait_timeout" } });
    expect(job.error?.message).toContain("refused jobs (model_unavailable)");
    // The refusals are 1, 2, 4 … s apart less a quarter, because the tests fix the jitter.
    expect(job.attempt).toBe(7);
    world.close();
    await store.close();
  });
});

describe("an Island that fails jobs of several Cargos", () => {
  it("is notified of its quarantine on failure and on reconnect until a job succeeds, and the operator sees it", async () => {
    coordinator.withFlags({ islandBackoffS: 0.001 });
    await coordinator.stop();
    await coordinator.start();
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId, slots: 1 });
    for (const workload of ["tiny-chat", "llama-3.2-1b-instruct"]) await submit(workload);
    const notices: unknown[] = [];
    while (notices.at(-1) === undefined || notices.at(-1) === null) {
      const assign = await island.next("assign");
      island.send(...failure(assign));
      notices.push((await island.next("ack", ({ jobId }) => jobId === assign.jobId)).quarantine);
    }
    expect(notices).toEqual([
      null,
      null,
      null,
      { inARow: 4, forMs: expect.any(Number), lastCode: "model_unavailable" },
    ]);
    expect(await metric("atoll_islands_quarantined")).toBe("1");
    await island[Symbol.asyncDispose]();
    await using again = await FakeIsland.dial(coordinator.url, account.islandToken);
    again.send(makeHello({ hostId, slots: 1 }));
    expect((await again.next("welcome")).quarantine).toMatchObject({ inARow: 4 });
    again.send(...runFrames(await again.next("assign"), "done"));
    expect(await again.next("ack", ({ seq }) => seq === 2)).toMatchObject({ quarantine: null });
    expect(await metric("atoll_islands_quarantined")).toBe("0");
  });
});

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${coordinator.url}/api/v1/metrics`)).text();
  return new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1];
}

describe("the circuit breaker of an Island and a Cargo", () => {
  it("opens after the Island reported a job as impossible that another Island completed", async () => {
    await using liar = await join();
    const jobId = await submit();
    const lie = await liar.next("assign");
    await using good = await join();
    liar.send(...beginFrames(lie), failedFrame(lie, 1, "invalid_input"));
    good.send(...runFrames(await good.next("assign"), "done"));
    await until(
      async () => (await detailOf(jobId)).status,
      (status) => status === "completed",
      "completed",
    );
    await expectNoMoreFor(liar, good);
  });

  it("opens after more output than a job may have", async () => {
    await using liar = await join();
    await submit();
    const assign = await liar.next("assign");
    const { jobId, attempt } = assign;
    const items = [{ type: "token" as const, content: "a".repeat(9_000), count: 9_000 }];
    liar.send(...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items });
    await liar.next("cancel");
    liar.send({ type: "cancelled", jobId, attempt, seq: 2 });
    await using good = await join();
    const { error } = await until(
      () => detailOf(jobId),
      (job) => job.error !== null,
      "the job's end",
    );
    expect(error.code).toBe("output_too_large");
    await expectNoMoreFor(liar, good);
  });

  it("opens after a run without output up to the run limit", async () => {
    await coordinator[Symbol.asyncDispose]();
    const catalogDirectory = makeCatalog(["tiny-chat"], { run_limit_s: 1 });
    coordinator = await TestCoordinator.open({ islandBackoffS: FOR_GOOD_S, catalogDirectory });
    account = await coordinator.createAccount("client@example.com", 1_000);
    await using liar = await join();
    const jobId = await submit();
    liar.send(...beginFrames(await liar.next("assign")));
    const { attempt } = await liar.next("cancel");
    liar.send({ type: "cancelled", jobId, attempt, seq: 1 });
    await using good = await join();
    expect((await detailOf(jobId)).error.code).toBe("run_timeout");
    await expectNoMoreFor(liar, good);
  });
});
