import { describe, expect, it } from "vitest";
import { MESSAGES } from "../../../../coordinator/cluster/messages.ts";
import { DONE, status, textOf, token } from "./feed-world.ts";
import { here, openForEachTest, owner, readAt, side, third, world } from "./open-feed-world.ts";
import { TestReader } from "./test-reader.ts";

openForEachTest();

it("a feed frame is a run of plain tokens or a slice, and anything else is invalid", () => {
  const slice = { from: 1, parts: [{ attempt: 1, items: ["a", ["b", 2]] }] };
  for (const frame of [[0, 1], [0, 1, "a", "b"], slice]) expect(MESSAGES.feed.frame.parse(frame)).toEqual(frame);
  for (const frame of [null, "a", [0], [0, 1, 2], [-1, 1, "a"], [0, 1.5, "a"], [0, "1", "a"], [0, 1, ["b", 2]]])
    expect(MESSAGES.feed.frame.safeParse(frame).success, JSON.stringify(frame)).toBe(false);
});

describe("a followed feed", () => {
  it("gives remote readers past output, new output and the end", async () => {
    const feed = world.job(side(owner));
    owner?.say("job_1", [status("running"), token("a"), { type: "progress", step: 1, total: 2 }]);
    const readers = [await readAt(here), await readAt(here), await readAt(third)];
    owner?.say("job_1", [token("b")], 2);
    await world.pass(25);
    owner?.say("job_1", [{ type: "token", content: "c", count: 3 }, status("pending")], 2);
    await world.pass(25);
    const copy = await side(here).open("job_1");
    expect([copy.items, copy.tokens, copy.attemptOf(2), copy.attemptOf(3)]).toEqual([feed.items, 5, 1, 2]);
    world.end(side(owner));
    await world.pass(25);
    for (const reader of readers) expect([reader.items, reader.isDone]).toEqual([feed.items, true]);
    expect(copy.ending).toEqual(DONE);
    expect(world.feedReads).toBe(0);
  });

  it("delivers a token in the tick in which it was added, and many tokens in few messages", async () => {
    world.job(side(owner));
    const reader = await readAt(here);
    let messages = 0;
    world.bus.subscribe("stream.c2", () => (messages += 1));
    await world.pass(25);
    owner?.say("job_1", [token("a")]);
    owner?.say("job_1", [token("b")]);
    await world.settle();
    expect([textOf(reader.items), messages]).toEqual(["ab", 1]);
    for (let n = 0; n < 100; n += 1) {
      owner?.say("job_1", [token("x")]);
      await world.settle();
    }
    await world.pass(25);
    expect([reader.outputs.length, messages]).toEqual([102, 3]);
  });

  it("requests a lost frame again when the next one comes or at the next heartbeat", async () => {
    world.job(side(owner));
    const reader = await readAt(here);
    const say = async (text: string, lose: number): Promise<void> => {
      side(owner).bus.faults = { lose, repeat: 0, delay: 0 };
      owner?.say("job_1", [token(text)]);
      await world.pass(25);
      side(owner).bus.faults = { lose: 0, repeat: 0, delay: 0 };
    };
    await say("a", 1);
    await say("b", 0);
    expect(textOf(reader.items)).toBe("ab");
    await say("c", 1);
    await world.pass(2_050);
    expect(textOf(reader.items)).toBe("abc");
    side(owner).bus.faults = { lose: 1, repeat: 0, delay: 0 };
    world.end(side(owner));
    await world.pass(25);
    side(owner).bus.faults = { lose: 0, repeat: 0, delay: 0 };
    await world.pass(2_050);
    expect([textOf(reader.items), reader.isDone]).toEqual(["abc", true]);
  });

  it("follows a job to its next owner after the owner died", async () => {
    const feed = world.job(side(owner));
    const reader = await readAt(here);
    owner?.say("job_1", [status("running"), token("a"), token("b"), token("c")]);
    world.store("job_1", feed);
    owner?.say("job_1", [token("d"), token("e")]);
    await world.pass(25);
    await owner?.kill();
    await world.pass(2_000);
    third?.take("job_1");
    await world.pass(50);
    // The Island resends the output that was not stored, and continues.
    third?.say("job_1", [token("d"), token("e"), token("f")]);
    await world.pass(50);
    expect(textOf(reader.items)).toBe("abcdef");
    world.end(side(third));
    await world.pass(50);
    expect([reader.isDone, reader.restarts]).toEqual([true, 0]);
  });

  it("is cut when another attempt continues the job without output that readers already have", async () => {
    const feed = world.job(side(owner));
    const [reader, late] = [await readAt(here), new TestReader()];
    owner?.say("job_1", [token("a")]);
    world.store("job_1", feed);
    owner?.say("job_1", [token("b")]);
    await world.pass(25);
    const copy = await side(here).open("job_1");
    await owner?.kill();
    third?.take("job_1");
    await world.pass(1_050);
    expect([copy.isCut, textOf(copy.items)]).toEqual([false, "ab"]);
    third?.say("job_1", [status("pending"), token("x"), token("y")], 2);
    await world.pass(25);
    expect([copy.isCut, reader.side, textOf(reader.items)]).toEqual([true, null, "ab"]);
    await reader.connect(side(here));
    await late.connect(side(here));
    expect([textOf(reader.items), reader.restarts, textOf(late.items), late.restarts]).toEqual(["axy", 1, "axy", 0]);
  });

  it("continues for readers here when another coordinator takes the job", async () => {
    const feed = world.job(side(owner));
    const reader = await readAt(owner);
    const elsewhere = await readAt(here);
    owner?.say("job_1", [token("a"), token("b")]);
    world.store("job_1", feed);
    await world.settle();
    third?.take("job_1");
    owner?.drop("job_1");
    await world.pass(300);
    third?.say("job_1", [token("c")]);
    await world.pass(25);
    expect([textOf(reader.items), textOf(elsewhere.items)]).toEqual(["abc", "abc"]);
    expect(await side(owner).open("job_1")).toBe(feed);
  });

  it("follows the local feed once the job is here, even while the bus is down", async () => {
    world.job(side(owner));
    const reader = await readAt(here);
    await owner?.kill();
    side(here).bus.downReason = "no connection";
    here?.take("job_1");
    await world.pass(2_000);
    here?.say("job_1", [token("a")]);
    world.end(side(here));
    await world.pass(25);
    expect([textOf(reader.items), reader.isDone]).toEqual(["a", true]);
  });

  it("ends from storage when the end of the job was missed", async () => {
    world.job(side(owner));
    const reader = await readAt(here);
    owner?.say("job_1", [token("a")]);
    await world.pass(25);
    side(here).bus.downReason = "no connection";
    owner?.say("job_1", [token("b")]);
    world.end(side(owner));
    await world.pass(1_100);
    expect([textOf(reader.items), reader.isDone]).toEqual(["ab", true]);
  });
});

describe("FollowedFeeds.open()", () => {
  it("returns the stored output if the owner does not reply, and the rest once there is another owner", async () => {
    const feed = world.job(side(owner));
    owner?.say("job_1", [token("a")]);
    world.store("job_1", feed);
    await owner?.kill();
    const reader = new TestReader();
    void reader.connect(side(here));
    await world.pass(500);
    expect(reader.items).toEqual([]);
    await world.pass(1_000);
    expect(textOf(reader.items)).toBe("a");
    third?.take("job_1");
    third?.say("job_1", [token("b")]);
    await world.pass(300);
    expect(textOf(reader.items)).toBe("ab");
  });

  it("rejects while the bus or storage is down, and open feeds resume afterwards", async () => {
    world.job(side(owner));
    const reader = await readAt(here);
    side(third).bus.downReason = "no connection";
    side(here).bus.downReason = "no connection";
    await expect(third?.followed.open("job_1")).rejects.toMatchObject({ code: "cluster_unavailable", retryAfterS: 2 });
    owner?.say("job_1", [token("a")]);
    await world.pass(2_000);
    expect(reader.items).toEqual([]);
    side(here).bus.downReason = null;
    await world.pass(300);
    expect(textOf(reader.items)).toBe("a");
    world.isStorageAway = true;
    side(third).bus.downReason = null;
    await expect(third?.followed.open("job_1")).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("rejects once it is closed, and follows nothing more", async () => {
    const feed = world.job(side(owner));
    const dropped = world.job(side(here), "job_2");
    dropped.subscribe(() => undefined);
    here?.followed.close();
    await expect(here?.followed.open("job_1")).rejects.toMatchObject({ code: "shutting_down" });
    here?.drop("job_2");
    await world.settle();
    expect([feed.readers, world.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("stops following a feed without readers, and resumes for the next reader", async () => {
    const feed = world.job(side(owner));
    const reader = await readAt(here);
    const copy = await side(here).open("job_1");
    expect(feed.readers).toBe(1);
    reader.disconnect();
    await world.pass(4_000);
    expect(feed.readers).toBe(1);
    await world.pass(4_000);
    expect(feed.readers).toBe(0);
    owner?.say("job_1", [token("a")]);
    copy.subscribe(() => undefined);
    await world.settle();
    expect(textOf(copy.items)).toBe("a");
  });
});

describe("a reply that arrives after the frames that follow it", () => {
  /** Opens `job_1` here while the reply is in flight and the owner has started to send frames. */
  async function beginReading(): Promise<TestReader> {
    const reader = new TestReader();
    side(here).bus.faults = { lose: 0, repeat: 0, delay: 1 };
    void reader.connect(side(here));
    await world.settle();
    side(here).bus.faults = { lose: 0, repeat: 0, delay: 0 };
    return reader;
  }

  it("causes no gap", async () => {
    const feed = world.job(side(owner));
    const reader = await beginReading();
    owner?.say("job_1", [token("a")]);
    await world.settle();
    expect([feed.readers, reader.items]).toEqual([1, []]);
    let subscriptions = 0;
    feed.onReader = () => (subscriptions += 1);
    await world.pass(50);
    expect([textOf(reader.items), subscriptions]).toEqual(["a", 0]);
  });

  it("is ignored if the owner lost the job in between", async () => {
    const feed = world.job(side(owner));
    world.store("job_1", feed);
    const reader = await beginReading();
    third?.take("job_1");
    owner?.drop("job_1");
    await world.settle();
    third?.say("job_1", [token("a")]);
    await world.pass(300);
    expect(textOf(reader.items)).toBe("a");
  });
});
