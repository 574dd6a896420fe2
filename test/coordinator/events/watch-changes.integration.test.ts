import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountEvents, GATHER_MS, type AccountEvents } from "../../../coordinator/events/account-events.ts";
import type { Change } from "../../../coordinator/events/change.ts";
import { watchChanges } from "../../../coordinator/events/watch-changes.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import type { JobWorld } from "../jobs/job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { TestReader } from "./event-builders.ts";

const TOKENS = 1_000;

let clock: ManualClock;
/** A separate clock, to count its timers. */
let eventsClock: ManualClock;
let opened: OpenedJobWorld;
let world: JobWorld;
let events: AccountEvents;
let island: PlayedIsland;
/** Number of lookups for listeners. */
let looks = 0;
let noted: Change[] = [];

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock, 100);
  world = opened.world;
  eventsClock = new ManualClock();
  events = accountEvents(eventsClock);
  const counted: Pick<AccountEvents, "isWatched" | "note" | "dropJob"> = {
    isWatched: (accountId) => {
      looks += 1;
      return events.isWatched(accountId);
    },
    note: (accountId, change) => {
      noted.push(change);
      events.note(accountId, change);
    },
    dropJob: (accountId, jobId) => events.dropJob(accountId, jobId),
  };
  const { registry: jobs, islands, dispatcher } = world;
  watchChanges(counted, clock, jobs, islands, (listener) => dispatcher.onQuarantine(listener));
  island = await PlayedIsland.join(world, opened.accountId);
  looks = 0;
  noted = [];
});
afterEach(async () => {
  events.close();
  await opened.close(world);
});

const commits = async (act: () => Promise<void>): Promise<number> => {
  const before = opened.store.commits;
  await act();
  return opened.store.commits - before;
};

async function chat(): Promise<void> {
  const { accountId } = opened;
  const input = { prompt: "Hi", max_tokens: TOKENS };
  await world.jobs.submit({ accountId, slug: "cheap", input, priority: 0, idempotency: null });
  await world.settle();
  const { assign } = island;
  for (const frame of beginFrames(assign)) void island.say(frame);
  for (let seq = 1; seq <= TOKENS; seq += 1) void island.say(outputFrame(assign, seq, "word "));
  void island.say(finishedFrame(assign, TOKENS + 1, { completionTokens: TOKENS }));
  await world.settle();
}

describe("a chat of a thousand tokens", () => {
  it("costs a handful of map lookups without listeners, and causes no change, timer or commit", async () => {
    await chat();
    expect([noted, looks <= 8, events.isWatched(opened.accountId)]).toEqual([[], true, false]);
    expect(eventsClock.pendingTimers).toBe(0);
  });

  it("records a handful of changes for a listener, without an additional commit", async () => {
    const without = await commits(chat);
    const reader = await TestReader.open(events, opened.accountId);
    expect(await commits(chat)).toBe(without);
    const states = noted.flatMap((change) => (change.type === "job" ? [change.state] : []));
    expect(states).toEqual(["queued", "running", "completed"]);
    // The host sees that the slot is taken and that it is free again.
    expect(noted.filter(({ type }) => type === "island").length).toBeGreaterThanOrEqual(2);
    expect(noted.length).toBeLessThanOrEqual(8);
    eventsClock.advance(GATHER_MS);
    expect(reader.read()).toContainEqual(expect.stringContaining("completed"));
  });
});

describe("an Island that enters quarantine", () => {
  it("is reported to its host", async () => {
    const reader = await TestReader.open(events, opened.accountId);
    noted = [];
    for (const [index, slug] of ["cheap", "dear", "cheap", "dear"].entries()) {
      const stumble = { cause: "failed", code: "model_unavailable", accountId: `user_${index}` } as const;
      // Waits until the breaker's last open time has passed.
      clock.advance(2_000);
      world.dispatcher.schedule({ kind: "failure", islandId: island.hostId, slug, ...stumble });
    }
    expect(noted).toMatchObject([{ type: "island", id: island.hostId }]);
    reader.close();
  });
});

describe("a job that moved to another coordinator", () => {
  it("loses its pending state here", async () => {
    const reader = await TestReader.open(events, opened.accountId);
    const { accountId } = opened;
    const jobs = [];
    for (const prompt of ["Hi", "Ho"]) {
      const input = { prompt, max_tokens: TOKENS };
      jobs.push(await world.jobs.submit({ accountId, slug: "cheap", input, priority: 0, idempotency: null }));
    }
    await world.settle();
    const [gone, kept] = jobs.map(({ record }) => record.id);
    world.registry.drop(gone ?? "", "coord_2");
    eventsClock.advance(GATHER_MS);
    const read = reader.read().join();
    expect([read.includes(gone ?? ""), read.includes(kept ?? "")]).toEqual([false, true]);
  });
});
