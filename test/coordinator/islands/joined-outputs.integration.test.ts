import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandGraceS: 0.3 });
  account = await coordinator.createAccount("client@example.com", 1_000_000, { concurrentJobs: 100 });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const join = (): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID(), slots: 32 });

/** Submits jobs, which the Island starts. */
async function begin(island: FakeIsland, count: number, input: object = {}): Promise<Assign[]> {
  const assigns: Assign[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const body = { workload: "tiny-chat", input: { prompt: `Hi ${nth}`, ...input } };
    const { body: job, status } = await call(coordinator.url, account.key, "POST", "/jobs", body);
    expect({ status, job }).toMatchObject({ status: 201 });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign));
    assigns.push(assign);
  }
  return assigns;
}

const part = ({ jobId, attempt }: Assign, seq: number, ...texts: string[]) => ({
  jobId,
  attempt,
  seq,
  items: texts.map((content) => ({ type: "token" as const, content, count: 1 })),
});
const joined = (...outputs: ReturnType<typeof part>[]): FromIsland => ({ type: "outputs", outputs });
const ended = async (assign: Assign) =>
  until(
    async () => (await call(coordinator.url, account.key, "GET", `/jobs/${assign.jobId}`)).body.data,
    ({ status }) => status === "completed" || status === "failed",
    "the end of the job",
  );

describe("the outputs of several jobs in one frame", () => {
  it("are announced as a feature, and go to their jobs in order", async () => {
    const dialled = await FakeIsland.dial(coordinator.url, account.islandToken);
    dialled.send(makeHello({ hostId: randomUUID() }));
    expect((await dialled.next("welcome")).features).toEqual(["outputs"]);
    await dialled[Symbol.asyncDispose]();
    await using island = await join();
    const [a, b] = (await begin(island, 2)) as [Assign, Assign];
    island.send(
      joined(part(a, 1, "a1"), part(b, 1, "b1", "b2")),
      joined(part(b, 2, "b3"), part(a, 2, "a2"), part(a, 3, "a3")),
      finishedFrame(a, 4, { completionTokens: 3 }),
      finishedFrame(b, 3, { completionTokens: 3 }),
    );
    expect(await ended(a)).toMatchObject({ status: "completed", output: "a1a2a3" });
    expect(await ended(b)).toMatchObject({ status: "completed", output: "b1b2b3" });
  });

  it("are dropped if they are duplicates or of another Island's job", async () => {
    await using island = await join();
    const [a] = (await begin(island, 1)) as [Assign];
    await using other = await join();
    const stray = { ...part(a, 2, "stolen") };
    other.send(joined(stray));
    island.send(joined(part(a, 1, "a1"), part(a, 1, "again"), part(a, 2, "a2")), joined(part(a, 1, "again")));
    island.send(finishedFrame(a, 3, { completionTokens: 2 }));
    expect(await ended(a)).toMatchObject({ status: "completed", output: "a1a2" });
    expect([island, other].map(({ socket }) => socket.readyState)).toEqual([1, 1]);
  });

  it("end the session at a gap in the numbers of a job, and are applied before it", async () => {
    const island = await join();
    const [a, b] = (await begin(island, 2)) as [Assign, Assign];
    island.send(joined(part(a, 1, "a1"), part(b, 2, "gap"), part(a, 2, "a2")));
    expect(await island.closed).toMatchObject({ code: 1008, reason: expect.stringMatching(/seq/) });
  });

  it("end the session if they are sent before hello", async () => {
    const island = await FakeIsland.dial(coordinator.url, account.islandToken);
    island.send(joined({ jobId: "job_1", attempt: 1, seq: 1, items: [{ type: "token", content: "x", count: 1 }] }));
    expect((await island.closed).reason).toBe("output: sent before hello");
  });

  it("carry 51,200 tokens of 32 jobs, all of which arrive, without ending the session", async () => {
    await using island = await join();
    const assigns = await begin(island, 32, { max_tokens: 1_600 });
    for (let seq = 1; seq <= 100; seq += 1) {
      island.send(joined(...assigns.map((assign) => part(assign, seq, ...Array.from({ length: 16 }, () => "w ")))));
    }
    island.send(...assigns.map((assign) => finishedFrame(assign, 101, { completionTokens: 1_600 })));
    for (const assign of assigns) {
      expect(await ended(assign)).toMatchObject({ status: "completed", output: "w ".repeat(1_600) });
    }
    expect(island.socket.readyState).toBe(island.socket.OPEN);
  });
});
