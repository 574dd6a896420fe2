import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { GRACE_MS, type JobWorld, PHASE_LIMITS } from "./job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "./open-job-world.ts";
import { nameOf, PlayedIsland } from "./played-island.ts";

let opened: OpenedJobWorld;
let clock: CountingClock;
let world: JobWorld;
let accountId: string;
let island: PlayedIsland;
let other: PlayedIsland;

class CountingClock extends ManualClock {
  schedules = 0;
  /** Simulates a stall of the process, during which time passes and no timer fires. */
  stalledMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.stalledMs;
  }

  override schedule(delayMs: number, task: () => void) {
    this.schedules += 1;
    return super.schedule(delayMs, task);
  }
}

beforeEach(async () => {
  clock = new CountingClock();
  opened = await openJobWorld(clock);
  ({ world, accountId } = opened);
});
afterEach(() => opened.close(world));

/** Returns a job that is assigned to `island`, while `other` is idle. */
async function assigned(slug = "cheap", input: Record<string, unknown> = { prompt: "Hi" }): Promise<Assign> {
  island = await PlayedIsland.join(world, accountId);
  const job = await world.jobs.submit({ accountId, slug, input, priority: 0, idempotency: null });
  other = await PlayedIsland.join(world, accountId);
  await world.settle();
  expect(island.assign.jobId).toBe(job.record.id);
  return island.assign;
}

async function started(slug?: string, input?: Record<string, unknown>): Promise<Assign> {
  const assign = await assigned(slug, input);
  await island.say(...beginFrames(assign));
  return assign;
}

/** Advances the clock without any activity of Islands. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await world.settle();
}

function addCargo(change: Partial<CatalogEntry>): void {
  world.catalog.replace([...world.catalog.list(), { ...world.catalog.get("cheap"), slug: "special", ...change }]);
}

const view = ({ jobId }: Assign) => world.jobs.get(accountId, jobId);
const work = (assign: Assign, count: number) => ({ working: [{ ...nameOf(assign), count }] });

/** Expects that the first Island was stopped and that the other one has the next attempt. */
function expectMoved(assign: Assign): void {
  expect(island.last("cancel")).toMatchObject({ ...nameOf(assign), reason: "timeout" });
  expect(other.assign).toMatchObject({ jobId: assign.jobId, attempt: assign.attempt + 1 });
}

describe("a silent Island", () => {
  it("loses the attempt at the limit of the accept phase, and not before", async () => {
    const assign = await assigned();
    expect((await view(assign)).waiting).toMatchObject({ reason: "starting", phase: "accept" });
    await pass(PHASE_LIMITS.accept - 1);
    expect(island.last("cancel")).toBeUndefined();
    await pass(1);
    expectMoved(assign);
  });

  it("loses the attempt after it accepted the job and did not start", async () => {
    const assign = await assigned();
    await pass(4_000);
    await island.say({ type: "accepted", ...nameOf(assign) });
    expect((await view(assign)).waiting).toMatchObject({ reason: "starting", phase: "start" });
    await pass(PHASE_LIMITS.start - 1);
    expect(island.last("cancel")).toBeUndefined();
    await pass(1);
    expectMoved(assign);
  });

  it("loses the attempt after it started without output, and the job shows the time without activity", async () => {
    const assign = await started();
    expect((await view(assign)).waiting).toBeNull();
    await pass(PHASE_LIMITS.first_output - 1);
    const { waiting } = await view(assign);
    expect(waiting).toMatchObject({ reason: "no_output", phase: "first_output" });
    expect(waiting?.message).toContain("no activity for 59 s");
    await pass(1);
    expectMoved(assign);
  });

  it("loses the attempt in the middle of its output, and another Island continues after the text", async () => {
    const assign = await started();
    await island.say(outputFrame(assign, 1, "one "));
    await pass(50_000);
    await island.say(outputFrame(assign, 2, "two "));
    await pass(PHASE_LIMITS.silence - 1);
    expect((await view(assign)).waiting).toMatchObject({ reason: "no_output", phase: "silence" });
    await pass(1);
    expectMoved(assign);
    expect(other.assign.resume).toEqual({ text: "one two ", tokens: 2 });
    // A late report of the first Island changes nothing.
    await island.say(outputFrame(assign, 3, "wrong"));
    await other.say(
      ...beginFrames(other.assign),
      outputFrame(other.assign, 1, "three"),
      finishedFrame(other.assign, 2),
    );
    expect((await view(assign)).output).toBe("one two three");
  });

  it("fails the job with the reason if every attempt was silent", async () => {
    const assign = await assigned();
    await pass(PHASE_LIMITS.accept);
    await PlayedIsland.join(world, accountId);
    await pass(PHASE_LIMITS.accept);
    await pass(PHASE_LIMITS.accept);
    expect(await view(assign)).toMatchObject({
      state: "failed",
      attempt: 3,
      error: { code: "island_silent", message: "The Island did not accept the job within 5 s", retryable: true },
    });
  });

  it("fails a job whose answer cannot be continued", async () => {
    const assign = await started("cheap", { prompt: "Hi", response_format: { type: "json_object" } });
    await island.say(outputFrame(assign, 1, "{"));
    await pass(PHASE_LIMITS.silence);
    const { state, error } = await view(assign);
    expect([state, error?.code, error?.message]).toEqual([
      "failed",
      "island_silent",
      "The Island produced no output for 60 s",
    ]);
    expect(island.last("cancel")).toMatchObject(nameOf(assign));
  });
});

describe("an active Island", () => {
  it("may download and load for longer than the limit while its reports show progress", async () => {
    const assign = await assigned();
    await island.say({ type: "accepted", ...nameOf(assign) });
    for (let count = 1; count <= 12; count += 1) {
      await pass(10_000);
      await island.beat(work(assign, count));
    }
    expect(island.last("cancel")).toBeUndefined();
    for (let beat = 1; beat <= 3; beat += 1) {
      await pass(10_000);
      await island.beat(work(assign, 12));
    }
    expectMoved(assign);
  });

  it("may download for longer than the limit with an older agent", async () => {
    const assign = await assigned();
    await island.say({ type: "accepted", ...nameOf(assign) });
    for (const fraction of [0.1, 0.2, 0.3, null, null, null]) {
      await pass(20_000);
      await island.beat({ downloads: [{ slug: "cheap", fraction }] });
    }
    expect((await view(assign)).waiting).toMatchObject({ reason: "model_downloading", phase: "start" });
    await island.beat({ downloads: [{ slug: "cheap", fraction: 0.5 }] });
    expect((await view(assign)).waiting).toMatchObject({ percent: 50 });
    await pass(20_000);
    await island.beat({ downloads: [{ slug: "cheap", fraction: 0.5 }] });
    expect(island.last("cancel")).toBeUndefined();
    await pass(10_000);
    expectMoved(assign);
  });

  it("may read a prompt for longer than the limit while its reports show progress", async () => {
    const assign = await started();
    for (let count = 1; count <= 4; count += 1) {
      await pass(50_000);
      await island.beat(work(assign, count));
    }
    expect(island.last("cancel")).toBeUndefined();
    await pass(PHASE_LIMITS.first_output);
    expectMoved(assign);
  });

  it("gets the whole run limit if it streams no tokens", async () => {
    addCargo({ isChat: false });
    const assign = await started("special");
    await pass(299_000);
    expect((await view(assign)).state).toBe("running");
    await pass(1_000);
    expectMoved(assign);
    await other.say(...beginFrames(other.assign), finishedFrame(other.assign, 1, { output: { label: "A" } }));
    expect(await view(assign)).toMatchObject({ state: "completed", output: { label: "A" }, attempt: 2 });
  });

  it("ends the job with timeout at the run limit if a second Island reaches the limit as well", async () => {
    addCargo({ isChat: false });
    const assign = await started("special");
    await pass(300_000);
    await other.say(...beginFrames(other.assign));
    await pass(300_000);
    expect(await view(assign)).toMatchObject({ state: "timeout", error: { code: "run_timeout" }, attempt: 2 });
  });

  it("ends the job with timeout at the run limit if no other Island starts within the wait limit", async () => {
    addCargo({ isChat: false });
    const assign = await started("special");
    await pass(300_000);
    await other.say({ type: "refused", ...nameOf(other.assign), code: "island_refused", message: "" });
    island.lose();
    other.lose();
    await pass(3_600_000);
    expect(await view(assign)).toMatchObject({ state: "timeout", error: { code: "run_timeout" } });
  });

  it("ends the job at the run limit if its client has output", async () => {
    addCargo({ isChat: false });
    const assign = await started("special");
    await island.say(outputFrame(assign, 1, "a"));
    await pass(300_000);
    expect(await view(assign)).toMatchObject({ state: "timeout", error: { code: "run_timeout" }, attempt: 1 });
  });

  it("is bound by the limits of a Cargo that streams no tokens, and progress counts as activity", async () => {
    addCargo({ isChat: false, phaseLimitsMs: { first_output: 120_000, silence: 20_000 } });
    const assign = await started("special");
    await pass(119_000);
    await island.say({ type: "output", ...nameOf(assign), seq: 1, items: [{ type: "progress", step: 1, total: 3 }] });
    await pass(19_000);
    await island.say({ type: "output", ...nameOf(assign), seq: 2, items: [{ type: "progress", step: 2, total: 3 }] });
    await pass(19_999);
    expect(island.last("cancel")).toBeUndefined();
    await pass(1);
    expect(island.last("cancel")).toMatchObject(nameOf(assign));
  });

  it("keeps an attempt while it is away for less than the grace period, and its phase limit restarts on return", async () => {
    const assign = await assigned();
    island.lose();
    await pass(GRACE_MS - 1);
    await island.comeBack(assign);
    await pass(PHASE_LIMITS.first_output - 1);
    await island.say(outputFrame(assign, 1, "here"), finishedFrame(assign, 2));
    expect(await view(assign)).toMatchObject({ state: "completed", output: "here", attempt: 1 });
  });

  it("loses nothing if the wall clock is set", async () => {
    const assign = await started();
    await island.say(outputFrame(assign, 1, "a"));
    await pass(59_000);
    clock.jump(3_600_000);
    await island.say(outputFrame(assign, 2, "b"));
    await pass(59_000);
    await island.say(finishedFrame(assign, 3));
    expect(await view(assign)).toMatchObject({ state: "completed", output: "ab", attempt: 1 });
  });

  it("loses nothing if the coordinator was stalled and could not receive reports", async () => {
    const assign = await assigned();
    clock.stalledMs = 10_000;
    await pass(PHASE_LIMITS.accept);
    expect(island.last("cancel")).toBeUndefined();
    await island.say(...beginFrames(assign), outputFrame(assign, 1, "a"), finishedFrame(assign, 2));
    expect(await view(assign)).toMatchObject({ state: "completed", attempt: 1 });
  });

  it("sets no timer with its tokens", async () => {
    const assign = await started();
    await island.say(outputFrame(assign, 1, "a"));
    const before = clock.schedules;
    for (let seq = 2; seq <= 200; seq += 1) await island.say(outputFrame(assign, seq, "a"));
    expect(clock.schedules).toBe(before);
  });
});
