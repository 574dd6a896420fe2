import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../coordinator/quotas/account-limits.ts";
import {
  IDLE_LIMIT_MS,
  MAX_LINE_BYTES,
  MAX_WAITING_LINES,
  WINDOW_BYTES,
  WINDOW_LINES,
} from "../../../shared/job-input.ts";
import type { Assign, InputFrame } from "../../../shared/protocol/from-coordinator.ts";
import type { HeldInput, Hello } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { GRACE_MS, JobWorld, RESTART_GRACE_MS } from "./job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "./open-job-world.ts";
import { nameOf, PlayedIsland } from "./played-island.ts";

let opened: OpenedJobWorld;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;
let island: PlayedIsland;

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock);
  ({ world, accountId } = opened);
  addInteractive(world);
});
afterEach(() => opened.close(world));

const RUNTIMES = [{ type: "container" as const, version: "1" }];
const IMAGE = { image: "docker.io/atoll/shell:1", digest: null, command: null, gpu: false, network: false };

function addInteractive({ catalog }: JobWorld): void {
  const base = {
    ...catalog.get("cheap"),
    runtimeType: "container" as const,
    model: null,
    isChat: false,
    runLimitMs: 3_600_000,
  };
  const container = { ...IMAGE, interactive: true };
  catalog.replace([
    ...catalog.list(),
    { ...base, slug: "session", container },
    { ...base, slug: "plain", container: IMAGE },
  ]);
}

const join = (features = ["jobs.input"]): Promise<PlayedIsland> =>
  PlayedIsland.join(world, accountId, { runtimes: RUNTIMES, features });

async function submit(slug = "session"): Promise<string> {
  const request = { accountId, limits: DEFAULT_LIMITS, slug, input: { text: "Hi" }, priority: 0, idempotency: null };
  const { record } = await world.jobs.submit(request);
  await world.settle();
  return record.id;
}

/** A running session. */
async function begin(slug?: string): Promise<Assign> {
  island = await join();
  await submit(slug);
  await island.say(...beginFrames(island.assign));
  return island.assign;
}

const send = ({ jobId }: Assign, line: string | null, seq?: number) =>
  world.jobs.sendInput(accountId, jobId, { line, seq });
const inputs = (of: PlayedIsland = island): InputFrame[] => of.frames.filter((frame) => frame.type === "input");
const lines = (of?: PlayedIsland): (string | undefined)[] => inputs(of).map(({ line }) => line);
const take = (assign: Assign, upTo: number): Promise<void> => island.say({ type: "taken", ...nameOf(assign), upTo });
const view = ({ jobId }: Assign) => world.jobs.get(accountId, jobId);

describe("input of a running job", () => {
  it("goes to its Island in order, and is answered when the program was given it", async () => {
    const assign = await begin();
    const sent = [send(assign, "1"), send(assign, '"two"'), send(assign, null)];
    await world.settle();
    expect(inputs()).toEqual([
      { type: "input", ...nameOf(assign), seq: 1, line: "1" },
      { type: "input", ...nameOf(assign), seq: 2, line: '"two"' },
      { type: "input", ...nameOf(assign), seq: 3, line: undefined },
    ]);
    await take(assign, 2);
    expect(await sent[0]).toEqual({ seq: 1, isTaken: true, isRepeat: false, waitingBytes: 0 });
    expect(await sent[1]).toMatchObject({ seq: 2, isTaken: true });
    clock.advance(2_000);
    expect(await sent[2]).toMatchObject({ seq: 3, isTaken: false });
    await expect(send(assign, "4")).rejects.toMatchObject({ code: "input_closed" });
  });

  it("has numbers: a repeated one changes nothing, and none is left out", async () => {
    const assign = await begin();
    const first = send(assign, "1", 1);
    await world.settle();
    await take(assign, 1);
    await first;
    expect(await send(assign, "1", 1)).toEqual({ seq: 1, isTaken: true, isRepeat: true, waitingBytes: 0 });
    await expect(send(assign, "3", 3)).rejects.toMatchObject({
      code: "input_out_of_order",
      message: "Number 3 does not follow: the next one is 2",
    });
    expect(lines()).toEqual(["1"]);
  });

  it("is refused for a job that does not run, has ended, is of another Cargo or of another account", async () => {
    const waiting = await submit();
    const to = (jobId: string, account = accountId) => world.jobs.sendInput(account, jobId, { line: "1" });
    await expect(to(waiting)).rejects.toMatchObject({ code: "job_not_running" });
    await world.jobs.cancel(accountId, waiting);
    await expect(to(waiting)).rejects.toMatchObject({ message: "The job is cancelled already" });
    const plain = await begin("plain");
    await expect(to(plain.jobId)).rejects.toMatchObject({ code: "input_closed" });
    await expect(to(plain.jobId, "user_other")).rejects.toMatchObject({ code: "not_found" });
    await expect(to("job_none")).rejects.toMatchObject({ code: "not_found" });
  });

  it("waits at the coordinator beyond the window, up to a limit", async () => {
    const assign = await begin();
    const sent = Array.from({ length: MAX_WAITING_LINES }, () => send(assign, "1"));
    await world.settle();
    expect(lines()).toHaveLength(WINDOW_LINES);
    await expect(send(assign, "1")).rejects.toMatchObject({ code: "rate_limited", limit: "input_backlog" });
    await take(assign, 10);
    await world.settle();
    expect(lines()).toHaveLength(WINDOW_LINES + 10);
    clock.advance(2_000);
    await Promise.all(sent);
  });

  it("has a largest line, and a window and a limit in bytes, also of all jobs of an account", async () => {
    const assign = await begin();
    const line = "1".repeat(MAX_LINE_BYTES);
    await expect(send(assign, `${line}1`)).rejects.toMatchObject({ code: "payload_too_large" });
    const sent = [1, 2, 3, 4].map(() => send(assign, line));
    await world.settle();
    expect(lines()).toHaveLength(WINDOW_BYTES / MAX_LINE_BYTES);
    await expect(send(assign, "1")).rejects.toMatchObject({ limit: "input_backlog" });
    for (let others = 1; others <= 3; others += 1) {
      const other = await begin();
      sent.push(...[1, 2, 3, 4].map(() => send(other, line)));
    }
    const last = await begin();
    await expect(send(last, "1")).rejects.toMatchObject({ limit: "input_backlog" });
    // What one job no longer needs, another may have.
    await world.jobs.cancel(accountId, assign.jobId);
    sent.push(send(last, "1"));
    await world.settle();
    clock.advance(2_000);
    await Promise.all(sent);
  });

  it("goes on after the Island comes back: what it missed comes again, and nothing twice", async () => {
    const assign = await begin();
    const sent = [send(assign, "1"), send(assign, "2")];
    await world.settle();
    island.lose();
    sent.push(send(assign, "3"));
    island.frames.length = 0;
    await island.connect(helloWith(assign, { received: 1, taken: 1, hasEnd: false }));
    expect(island.frames[0]?.type).toBe("welcome");
    expect(lines()).toEqual(["2", "3"]);
    await take(assign, 3);
    expect(await Promise.all(sent)).toMatchObject([{ isTaken: true }, { isTaken: true }, { isTaken: true }]);
  });

  it("goes on after a restart of the coordinator with the number that the Island has", async () => {
    const assign = await begin();
    void send(assign, "1").catch(() => undefined);
    await world.settle();
    await restart();
    await expect(send(assign, "2", 2)).rejects.toMatchObject({ code: "job_not_running" });
    island = await PlayedIsland.join(world, accountId, helloWith(assign, { received: 1, taken: 1, hasEnd: false }));
    void send(assign, "2", 2).catch(() => undefined);
    expect(await send(assign, "1", 1)).toMatchObject({ isRepeat: true });
    await world.settle();
    expect(lines()).toEqual(["2"]);
  });
});

describe("an interactive job", () => {
  it("goes to no Island whose agent does not know of input", async () => {
    const old = await join([]);
    const jobId = await submit();
    expect(old.last("assign")).toBeUndefined();
    expect((await world.jobs.get(accountId, jobId)).waiting?.message).toContain("jobs.input");
  });

  it("whose Island is lost fails and says so: no other Island begins anew", async () => {
    const assign = await begin();
    const other = await join();
    const sent = send(assign, "1");
    await world.settle();
    island.lose();
    clock.advance(GRACE_MS);
    await sent;
    await world.settle();
    expect(other.last("assign")).toBeUndefined();
    const { state, error } = await view(assign);
    expect([state, error?.code, error?.retryable]).toEqual(["failed", "island_lost", true]);
    expect(error?.message).toContain("An interactive job is not run again");
  });

  it("that had not begun is tried elsewhere", async () => {
    island = await join();
    const other = await join();
    await submit();
    const given = island.last("assign") === undefined ? other : island;
    given.lose();
    clock.advance(GRACE_MS);
    await world.settle();
    expect(new Set([island, other].map((each) => each.last("assign")?.attempt))).toEqual(new Set([1, 2]));
  });

  it("whose Island does not come back after a restart fails, too", async () => {
    const assign = await begin();
    await world.settle();
    await restart();
    const other = await join();
    clock.advance(RESTART_GRACE_MS + 60_000);
    await world.settle();
    expect(other.last("assign")).toBeUndefined();
    expect(await view(assign)).toMatchObject({ state: "failed", error: { code: "island_lost" } });
  });

  it("ends in timeout when neither input nor output comes, through no fault of the Island", async () => {
    const assign = await begin();
    clock.advance(IDLE_LIMIT_MS - 1);
    const sent = send(assign, "1");
    await world.settle();
    await take(assign, 1);
    await sent;
    clock.advance(IDLE_LIMIT_MS - 1);
    await island.say(outputFrame(assign, 1, "answer"));
    clock.advance(IDLE_LIMIT_MS - 1);
    await world.settle();
    expect((await view(assign)).state).toBe("running");
    clock.advance(1);
    await world.settle();
    expect(await view(assign)).toMatchObject({
      state: "timeout",
      error: { code: "run_timeout", message: expect.stringContaining("neither input nor output for 120 s") },
    });
    expect(island.last("cancel")).toMatchObject(nameOf(assign));
    expect(world.scheduler.quarantineOf(island.hostId, clock.monotonicMs())).toBeNull();
  });

  it("answers who waits for its program when it ends", async () => {
    const assign = await begin();
    const sent = send(assign, "1");
    await world.settle();
    await island.say(finishedFrame(assign, 1, { output: "bye" }));
    expect(await sent).toMatchObject({ seq: 1, isTaken: false });
  });
});

function helloWith({ jobId, attempt, claim }: Assign, input: HeldInput): Partial<Hello> {
  const held = [{ jobId, attempt, claim, started: true, input }];
  return { hostId: island.hostId, runtimes: RUNTIMES, features: ["jobs.input"], held };
}

async function restart(): Promise<void> {
  world.close();
  world = new JobWorld(opened.store, clock, world.secret);
  addInteractive(world);
  await world.recover();
}
