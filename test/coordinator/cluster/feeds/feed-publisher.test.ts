import { describe, expect, it } from "vitest";
import type { Feed } from "../../../../coordinator/jobs/feed.ts";
import { FEED_START } from "../../../../coordinator/jobs/feed-position.ts";
import { LargeJson } from "../../../../coordinator/store/jobs/large-json.ts";
import { textOf, token } from "./feed-world.ts";
import { here, openForEachTest, owner, readAt, side, third, world } from "./open-feed-world.ts";
import { TestReader } from "./test-reader.ts";

openForEachTest();

it("a feed keeps all data of a token when it is sent to a follower", async () => {
  world.job(side(owner));
  const reader = await readAt(here);
  const items = [{ ...token("a"), logprobs: [{ token: "a", logprob: -1, top: [] }] }, token("b")];
  owner?.say("job_1", items);
  await world.pass(25);
  expect(reader.items).toEqual(items);
});

describe("the prompt size of a feed", () => {
  const open = (): Promise<Feed> => side(here).open("job_1", FEED_START);

  it("reaches a follower before there is output, and again after another attempt", async () => {
    const feed = world.job(side(owner));
    const copy = await open();
    feed.notePrompt(13);
    await world.pass(25);
    expect([copy.promptTokens, copy.hasOutput]).toEqual([13, false]);
    feed.notePrompt(14);
    owner?.say("job_1", [token("a")]);
    await world.pass(25);
    expect([copy.promptTokens, copy.items]).toEqual([14, [token("a")]]);
  });

  it("reaches a late follower", async () => {
    const feed = world.job(side(owner));
    feed.notePrompt(13);
    owner?.say("job_1", [token("a")]);
    const copy = await open();
    expect([copy.promptTokens, copy.items]).toEqual([13, [token("a")]]);
  });
});

describe("feed items that are too large for a message", () => {
  it("are read from storage, a large value once it is written, and a large token together with everything before it", async () => {
    const feed = world.job(side(owner));
    const reader = await readAt(here);
    const written = Promise.withResolvers<void>();
    const json = JSON.stringify("x".repeat(70_000));
    world.stored("job_1").large.set("1.1.0", json);
    const image = new LargeJson(json.length, async () => json, { name: "1.1.0", written: written.promise });
    owner?.say("job_1", [token("a"), { type: "image", format: "png", data: image }, token("b")]);
    await world.pass(25);
    expect(reader.items).toEqual([token("a")]);
    written.resolve();
    await world.pass(25);
    const [, copy] = reader.items;
    expect(copy).toMatchObject({ type: "image", format: "png", data: { chars: json.length, written: null } });
    expect(await (copy?.type === "image" && copy.data instanceof LargeJson ? copy.data.value() : null)).toBe(
      JSON.parse(json),
    );
    const long = "y".repeat(200_000);
    owner?.say("job_1", [token(long), token("c")]);
    await world.pass(25);
    expect(textOf(reader.items)).toBe("ab");
    world.store("job_1", feed);
    await world.pass(300);
    expect(textOf(reader.items)).toBe(`ab${long}c`);
  });

  it("are requested in parts", async () => {
    const feed = world.job(side(owner));
    const items = Array.from({ length: 40 }, (_, n) => token(String(n).padStart(10_000, ".")));
    owner?.say("job_1", items);
    const reader = await readAt(here);
    owner?.say("job_1", items);
    await world.pass(50);
    expect(reader.items).toEqual(feed.items);
  });
});

describe("publishFeeds()", () => {
  it("removes a dead follower, and the jobs of its clients then wait for other readers", async () => {
    const feed = world.job(side(owner));
    owner?.clientBound.add("job_1");
    await readAt(here);
    await here?.kill();
    await world.pass(4_000);
    expect(feed.readers).toBe(1);
    await world.pass(7_000);
    expect([feed.readers, [...(owner?.awaited ?? [])]]).toEqual([0, ["job_1"]]);
  });

  it("makes a job wait for other readers when its follower died before the job's feed was read from storage", async () => {
    const feed = world.job(side(owner));
    owner?.clientBound.add("job_1");
    feed.load = () => new Promise(() => undefined);
    void readAt(here).catch(() => undefined);
    await world.pass(500);
    await here?.kill();
    await world.pass(11_000);
    expect([...(owner?.awaited ?? [])]).toEqual(["job_1"]);
  });

  it("keeps a follower while the bus is down, and stops waiting for readers when the follower returns", async () => {
    for (const jobId of ["job_1", "job_2"]) {
      world.job(side(owner), jobId);
      owner?.clientBound.add(jobId);
    }
    const leaver = new TestReader("job_2");
    await leaver.connect(side(here));
    const reader = await readAt(here);
    for (const { bus } of world.sides) bus.downReason = "cut";
    await world.pass(30_000);
    expect([...side(owner).awaited]).toEqual([]);
    leaver.disconnect();
    await world.pass(6_000);
    for (const { bus } of world.sides) bus.downReason = null;
    await world.pass(3_000);
    expect([...side(owner).awaited]).toEqual(["job_2"]);
    owner?.say("job_1", [token("a")]);
    await world.pass(25);
    expect(textOf(reader.items)).toBe("a");
  });

  it("redirects its followers to the next owner when it closes", async () => {
    const feed = world.job(side(owner));
    owner?.say("job_1", [token("a")]);
    world.store("job_1", feed);
    const reader = await readAt(here);
    third?.take("job_1");
    owner?.peers.close();
    await world.pass(25);
    third?.say("job_1", [token("b")]);
    await world.pass(25);
    expect(textOf(reader.items)).toBe("ab");
  });
});
