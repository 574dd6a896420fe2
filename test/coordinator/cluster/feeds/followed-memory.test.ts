import { describe, expect, it } from "vitest";
import { FEED_START } from "../../../../coordinator/jobs/feed-position.ts";
import { DONE, status, textOf, token } from "./feed-world.ts";
import { openForEachTest, owner, side, third, world } from "./open-feed-world.ts";
import { TestReader } from "./test-reader.ts";

openForEachTest();

describe("feed replicas above the memory limit", () => {
  const say = (jobId: string, tokens: number): void =>
    side(owner).say(
      jobId,
      Array.from({ length: tokens }, () => token("x".repeat(100))),
    );

  it("are cut if they exceed their share, and their readers resume when memory is free", async () => {
    world.maxFollowedBytes = 10_000;
    const small = world.side();
    const jobIds = ["job_1", "job_2", "job_3"];
    for (const jobId of jobIds) world.job(side(owner), jobId);
    const [large, other] = [new TestReader("job_1"), new TestReader("job_2")];
    await large.connect(small);
    say("job_1", 40);
    await world.pass(25);
    await other.connect(small);
    say("job_2", 20);
    await world.pass(25);
    expect([large.items.length, other.items.length]).toEqual([40, 20]);
    await expect(small.open("job_3")).rejects.toMatchObject({ code: "overloaded" });
    say("job_1", 1);
    await world.pass(25);
    expect([large.side, other.side]).toEqual([null, small]);
    // No other reader takes the memory that this reader waits for.
    void large.connect(small);
    await world.pass(1_025);
    expect([large.side, large.items.length]).toEqual([small, 41]);
    world.end(side(owner), "job_2");
    await world.pass(1_025);
    expect(other.isDone).toBe(true);
    say("job_1", 1);
    await world.pass(25);
    world.end(side(owner), "job_1");
    await world.pass(25);
    expect([large.items.length, large.isDone, large.restarts]).toEqual([42, true, 0]);
  });

  it("restart at the reader's position, so that each attempt makes progress", async () => {
    world.maxFollowedBytes = 10_000;
    const small = world.side();
    const feed = world.job(side(owner));
    say("job_1", 1_000);
    side(owner).say("job_1", [status("pending")]);
    feed.push(
      Array.from({ length: 1_000 }, () => token("y".repeat(100))),
      2,
    );
    const reader = new TestReader();
    const progress: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      await reader.connect(small);
      await world.pass(1_025);
      progress.push(reader.items.length);
      if (tries < 3) expect(reader.side).toBeNull();
    }
    const [first = 0, second = 0, third = 0, last] = progress;
    expect([first > 500, second > first + 500, third > second + 500, last]).toEqual([true, true, true, 2_001]);
    world.end(side(owner));
    await world.pass(25);
    if (!reader.isDone) await reader.connect(small);
    expect([reader.items, reader.isDone, reader.restarts]).toEqual([feed.items, true, 0]);
  });

  it("report a lost position even if the replica would start there", async () => {
    world.maxFollowedBytes = 120_000;
    const small = world.side();
    const feed = world.job(side(owner));
    say("job_1", 500);
    world.store("job_1", feed);
    say("job_1", 200);
    const reader = new TestReader();
    await reader.connect(small);
    expect([reader.items.length > 500, reader.side]).toEqual([true, null]);
    await owner?.kill();
    third?.take("job_1");
    third?.say("job_1", [token("z")], 2);
    await world.pass(1_025);
    await reader.connect(small);
    expect([reader.restarts, textOf(reader.items).endsWith("xz")]).toEqual([1, true]);
  });

  it("are refused to readers that need everything at once, and not restarted for several seconds", async () => {
    world.maxFollowedBytes = 10_000;
    const small = world.side();
    const feed = world.job(side(owner));
    say("job_1", 100);
    await expect(small.open("job_1")).rejects.toMatchObject({ code: "overloaded" });
    let copies = 0;
    feed.onReader = () => (copies += 1);
    await world.pass(2_000);
    await expect(small.open("job_1")).rejects.toMatchObject({ code: "overloaded" });
    expect(copies).toBe(0);
    await world.pass(4_000);
    await expect(small.open("job_1")).rejects.toMatchObject({ code: "overloaded" });
    expect(copies).toBe(1);
  });

  it("still count after their end while they are read", async () => {
    world.maxFollowedBytes = 10_000;
    const small = world.side();
    for (const jobId of ["job_1", "job_2"]) world.job(side(owner), jobId);
    const copy = await small.open("job_1");
    const leave = copy.subscribe(() => undefined);
    // The items arrive together with the end.
    say("job_1", 60);
    world.end(side(owner));
    await world.pass(2_000);
    expect([copy.items.length, copy.ending]).toEqual([60, DONE]);
    await expect(small.open("job_2")).rejects.toMatchObject({ code: "overloaded" });
    const refused = expect(small.open("job_2", FEED_START)).rejects.toMatchObject({ code: "overloaded" });
    await world.pass(10_025);
    await refused;
    const waiting = new TestReader("job_2");
    void waiting.connect(small);
    await world.pass(2_000);
    leave();
    await world.pass(1_025);
    say("job_2", 1);
    await world.pass(25);
    expect([waiting.side, waiting.items.length]).toEqual([small, 1]);
    expect((await small.open("job_2")).isCut).toBe(false);
  });

  it("make readers wait even if the job has a replica that starts after the reader's position", async () => {
    world.maxFollowedBytes = 10_000;
    const small = world.side();
    for (const jobId of ["job_1", "job_2"]) world.job(side(owner), jobId);
    const [early, late] = [new TestReader("job_1"), new TestReader("job_1")];
    await early.connect(small);
    say("job_1", 100);
    await world.pass(1_025);
    await early.connect(small);
    const other = await small.open("job_2");
    const leave = other.subscribe(() => undefined);
    say("job_2", 100);
    await world.pass(25);
    expect([early.side, other.cutReason]).toEqual([small, "memory"]);
    void late.connect(small);
    await world.pass(2_000);
    expect([late.side, late.items.length]).toEqual([small, 0]);
    leave();
    await world.pass(1_025);
    expect(late.items.length).toBe(100);
  });
});
