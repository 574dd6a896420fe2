import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../../../support/network/attempt-frames.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { withReplaced } from "../held-store.ts";
import { JobWorld } from "../job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "../open-job-world.ts";
import { nameOf, PlayedIsland } from "../played-island.ts";

const DELAY_MS = 100;
let clock: ManualClock;
let opened: OpenedJobWorld;
let world: JobWorld;
let island: PlayedIsland;

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock, DELAY_MS);
  world = opened.world;
  island = await PlayedIsland.join(world, opened.accountId, { slots: 4 });
});
afterEach(() => opened.close(world));

const submit = (): Promise<{ id: string }> =>
  world.jobs
    .submit({
      accountId: opened.accountId,
      slug: "cheap",
      input: { prompt: "Hi", max_tokens: 1_000 },
      priority: 0,
      idempotency: null,
    })
    .then(({ record }) => record);
const acks = () => island.frames.filter((frame) => frame.type === "ack").map(({ seq }) => seq);
const storedText = async (jobId: string): Promise<string> =>
  (await opened.store.jobs.feed(jobId))
    .flatMap(({ items }) => items)
    .map((item) => (item.type === "token" ? item.content : ""))
    .join("");
async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  await world.settle();
}
/** Starts a new world on the store. The old world stops, and stores nothing more. */
async function restart(): Promise<void> {
  clock = new ManualClock();
  world = new JobWorld(opened.store, clock, world.secret, DELAY_MS);
  await world.recover();
}
/** Counts the commits while `act` and its effects run, without the commits of `settle` itself. */
async function commitsOf(act: () => unknown): Promise<number> {
  await world.settle();
  const idle = opened.store.commits;
  await world.settle();
  const perSettle = opened.store.commits - idle;
  const before = opened.store.commits;
  await act();
  await world.settle();
  return opened.store.commits - before - perSettle;
}

describe("a short run", () => {
  it("costs one write, which stores its start and all of its output with its end", async () => {
    const { id } = await submit();
    const writes: string[] = [];
    const { jobs } = opened.store;
    const [move, append] = [vi.spyOn(jobs, "move"), vi.spyOn(jobs, "appendFeed")];
    const [assign] = island.frames.filter((frame) => frame.type === "assign");
    if (assign === undefined) throw new Error("No job was assigned");
    const commits = await commitsOf(() => {
      for (const frame of beginFrames(assign)) void island.say(frame);
      for (let seq = 1; seq <= 16; seq += 1) void island.say(outputFrame(assign, seq, "a"));
      void island.say(finishedFrame(assign, 17));
    });
    for (const { mock } of [move, append]) writes.push(...mock.calls.map(([{ jobId }]) => jobId));
    expect([commits, writes]).toEqual([1, []]);
    expect(await opened.store.jobs.get(id)).toMatchObject({
      state: "completed",
      output: "a".repeat(16),
      startedAtMs: clock.now(),
    });
    vi.restoreAllMocks();
  });
});

describe("output", () => {
  it("is acknowledged only once it is stored, even if it is resent", async () => {
    await submit();
    const { assign } = island;
    for (const frame of [...beginFrames(assign), outputFrame(assign, 1, "a"), outputFrame(assign, 1, "a")])
      void island.say(frame);
    await world.settle();
    expect(acks()).toEqual([]);
    await advance(DELAY_MS);
    expect(acks()).toEqual([1]);
    void island.say(outputFrame(assign, 1, "a"));
    await world.settle();
    expect(acks()).toEqual([1, 1]);
  });

  it("costs no commit while it is gathered, then one commit for all jobs and one ack for each job", async () => {
    const jobs = [await submit(), await submit()];
    const assigns = island.frames.filter((frame) => frame.type === "assign");
    for (const assign of assigns) for (const frame of beginFrames(assign)) void island.say(frame);
    const gathered = await commitsOf(() => {
      for (let seq = 1; seq <= 20; seq += 1)
        for (const assign of assigns) void island.say(outputFrame(assign, seq, "a"));
    });
    const feed = world.registry.get(jobs[0]?.id ?? "")?.feed;
    expect([gathered, feed?.text().length, acks()]).toEqual([0, 20, []]);
    const stored = await commitsOf(() => clock.advance(DELAY_MS));
    expect([stored, acks()]).toEqual([1, [20, 20]]);
    for (const { id } of jobs) expect(await storedText(id)).toBe("a".repeat(20));
  });

  it("sets no timer for a token, and reads the clock twice", async () => {
    await submit();
    const [assign] = island.frames.filter((frame) => frame.type === "assign");
    if (assign === undefined) throw new Error("The job was not assigned");
    for (const frame of [...beginFrames(assign), outputFrame(assign, 1, "a")]) void island.say(frame);
    const [timers, looks] = [vi.spyOn(clock, "schedule"), vi.spyOn(clock, "monotonicMs")];
    for (let seq = 2; seq <= 101; seq += 1) void island.say(outputFrame(assign, seq, "a"));
    expect([timers.mock.calls.length, looks.mock.calls.length]).toEqual([0, 200]);
  });

  it("of a short chat costs no extra commit, so that the chat takes two commits and at most two acks", async () => {
    const commits = await commitsOf(async () => {
      await submit();
      const { assign } = island;
      for (const frame of beginFrames(assign)) void island.say(frame);
      for (let seq = 1; seq <= 16; seq += 1) void island.say(outputFrame(assign, seq, "a"));
      await island.say(finishedFrame(assign, 17));
    });
    const id = island.assign.jobId;
    expect(commits).toBe(2);
    expect(acks().length).toBeLessThanOrEqual(2);
    expect(await opened.store.jobs.get(id)).toMatchObject({ state: "completed", output: "a".repeat(16) });
    expect((await opened.store.jobs.get(id))?.startedAtMs).not.toBeNull();
  });

  it("of a long stream is stored at a tenth of the rate in the end", async () => {
    await submit();
    const { assign } = island;
    for (const frame of beginFrames(assign)) void island.say(frame);
    let seq = 0;
    const storedInASecond = async (): Promise<number> => {
      const before = acks().length;
      for (let tick = 0; tick < 10; tick += 1) {
        void island.say(outputFrame(assign, ++seq, "a"));
        await advance(DELAY_MS);
      }
      return acks().length - before;
    };
    const first = await storedInASecond();
    for (let second = 0; second < 12; second += 1) await storedInASecond();
    expect([first, await storedInASecond()]).toEqual([10, 1]);
  });

  it("of more than 256 KB is stored at once", async () => {
    await submit();
    const { assign } = island;
    for (const frame of beginFrames(assign)) void island.say(frame);
    const commits = await commitsOf(() => void island.say(outputFrame(assign, 1, "a".repeat(300_000))));
    expect([commits, acks()]).toEqual([1, [1]]);
  });

  it("is stored before its attempt goes to another Island, which continues after it", async () => {
    const { id } = await submit();
    const { assign } = island;
    for (const frame of beginFrames(assign)) void island.say(frame);
    void island.say(outputFrame(assign, 1, "a", "b"));
    const other = await PlayedIsland.join(world, opened.accountId);
    await island.say({ type: "failed", ...nameOf(assign), seq: 2, code: "internal", message: "", retryable: true });
    await world.settle();
    expect(other.assign).toMatchObject({ attempt: 2, resume: { text: "ab", tokens: 2 } });
    expect(await storedText(id)).toBe("ab");
  });
});

describe("output while storage does not respond", () => {
  const TICKS = 1_000;
  /** The total exceeds what is gathered while storage responds. */
  const TEXT = "a".repeat(500);

  it.each([DELAY_MS, 0])(
    "makes one write per job, waits for it however long it takes, then makes a second (delay %i ms)",
    async (delayMs) => {
      const { promise: back, resolve: comeBack } = Promise.withResolvers<void>();
      const writes: string[] = [];
      const store = withReplaced(opened.store, {
        jobs: {
          appendFeed: async (chunk) => {
            writes.push(chunk.jobId);
            await back;
            return opened.store.jobs.appendFeed(chunk);
          },
        },
      });
      world = new JobWorld(store, clock, undefined, delayMs);
      island = await PlayedIsland.join(world, opened.accountId, { slots: 4 });
      const jobs = [await submit(), await submit()];
      const assigns = island.frames.filter((frame) => frame.type === "assign");
      for (const assign of assigns) for (const frame of beginFrames(assign)) void island.say(frame);
      for (let seq = 1; seq <= TICKS; seq += 1) {
        for (const assign of assigns) void island.say(outputFrame(assign, seq, TEXT));
        await Promise.resolve();
        clock.advance(DELAY_MS);
      }
      await world.settle();
      expect(writes.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(acks()).toEqual([]);
      comeBack();
      await advance(DELAY_MS);
      expect(writes).toHaveLength(4);
      expect(acks().slice(-2)).toEqual([TICKS, TICKS]);
      for (const { id } of jobs) expect((await storedText(id)).length).toBe(TICKS * TEXT.length);
    },
  );
});

describe("a crash while output is gathered", () => {
  it("loses only output that the Island still holds and resends, as it was not acknowledged", async () => {
    const { id } = await submit();
    const { assign } = island;
    for (const frame of beginFrames(assign)) void island.say(frame);
    void island.say(outputFrame(assign, 1, "a"));
    await advance(DELAY_MS);
    void island.say(outputFrame(assign, 2, "b"));
    await world.settle();
    expect([world.registry.get(id)?.feed.text(), await storedText(id), acks()]).toEqual(["ab", "a", [1]]);

    await restart();
    const back = await PlayedIsland.rejoin(world, opened.accountId, island.hostId, assign);
    expect(back.last("welcome")?.held).toMatchObject([{ action: "continue", ackedSeq: 1 }]);
    void back.say(outputFrame(assign, 2, "b"));
    void back.say(outputFrame(assign, 3, "c"));
    await back.say(finishedFrame(assign, 4));
    expect(await opened.store.jobs.get(id)).toMatchObject({ state: "completed", attempt: 1, output: "abc" });
  });

  it("loses the start of a run, which the Island reports again", async () => {
    const { id } = await submit();
    const { assign } = island;
    for (const frame of beginFrames(assign)) void island.say(frame);
    await world.settle();
    expect((await world.jobs.get(opened.accountId, id)).state).toBe("running");
    expect((await opened.store.jobs.get(id))?.state).toBe("queued");
    await restart();
    await PlayedIsland.rejoin(world, opened.accountId, island.hostId, assign);
    expect(world.registry.get(id)?.state).toBe("running");
    await advance(DELAY_MS);
    expect((await opened.store.jobs.get(id))?.state).toBe("running");
  });
});
