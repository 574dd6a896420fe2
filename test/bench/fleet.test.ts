import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../bench/cells/virtual-clock.ts";
import { FLEETS, seeded, type Fleet } from "../../bench/fleet/fleets.ts";
import { measure } from "../../bench/fleet/measures.ts";
import { ModelledIsland, type Chat } from "../../bench/fleet/modelled-island.ts";
import { leastBusyFirst, oldRank, oracle } from "../../bench/fleet/policies.ts";
import { reachedCapacity } from "../../bench/fleet/reached-capacity.ts";
import { runPolicy, runScheduler } from "../../bench/fleet/run-fleet.ts";

const SPEEDS = { alphaMs: 10, betaMs: 5, readMsPerToken: 1, loadMs: 1_000 };
const PLAN = {
  id: "isle",
  nth: 0,
  hardwareClass: "a",
  slots: 4,
  speeds: SPEEDS,
  slugs: ["chat", "other"],
  memoryModels: 1,
};

function chatOf(override: Partial<Chat>): Chat {
  return {
    id: "chat_1",
    slug: "chat",
    accountId: "user_1",
    arrivedMs: 0,
    promptTokens: 100,
    outputTokens: 100,
    expectedOutput: 100,
    promptParts: [],
    answerHash: null,
    ...override,
  };
}

/** Runs chats on one Island, all from the start. Returns the time of their ends and their cached tokens, by id. */
async function runOn(chats: readonly Chat[]): Promise<Map<string, [ms: number, cached: number]>> {
  const clock = new VirtualClock();
  const ended = new Map<string, [number, number]>();
  const island = new ModelledIsland(
    PLAN,
    clock,
    {
      firstOutput: () => undefined,
      loadedChanged: () => undefined,
      ended: ({ id }, _island, cached) => ended.set(id, [Math.round(clock.monotonicMs()), cached]),
    },
    // Without variation of times.
    () => 0.5,
  );
  for (const chat of chats) island.start(chat);
  await clock.runUntil(() => ended.size === chats.length);
  return ended;
}

describe("ModelledIsland", () => {
  it("reads a prompt, then writes a token in alpha + beta ms", async () => {
    expect((await runOn([chatOf({})])).get("chat_1")).toEqual([100 + 100 * 15, 0]);
  });

  it("writes two chats more slowly than one, and at half of the speed while it reads", async () => {
    const ended = await runOn([chatOf({}), chatOf({ id: "chat_2" })]);
    // From 100 to 200 ms, the first chat is written at 30 ms for each token. Then both are, at 20 ms.
    const firstMs = 200 + (100 - 100 / 30) * 20;
    expect(ended.get("chat_1")?.[0]).toBe(Math.round(firstMs));
    expect(ended.get("chat_2")?.[0]).toBe(Math.round(firstMs + (100 / 30) * 15));
  });

  it("loads a model that is not in memory", async () => {
    expect((await runOn([chatOf({ slug: "other" })])).get("chat_1")?.[0]).toBe(1_000 + 100 + 1_500);
  });

  it("does not read the start of a prompt that is in its cache", async () => {
    const first = { hash: 1, tokens: 60 };
    const ended = await runOn([
      chatOf({ promptTokens: 60, promptParts: [first] }),
      chatOf({ id: "chat_2", promptParts: [first, { hash: 2, tokens: 100 }] }),
    ]);
    expect(ended.get("chat_2")?.[1]).toBe(60);
  });
});

const small = (name: string): Fleet => {
  const fleet = FLEETS.find((each) => each.name === name);
  if (fleet === undefined) return expect.fail(name);
  return { ...fleet, chats: 600, ...(fleet.change === undefined ? {} : { change: { ...fleet.change, after: 200 } }) };
};

describe("reachedCapacity()", () => {
  it("is about 1 for Islands with one model, and less if they must load others", async () => {
    expect(await reachedCapacity(small("equal"), 1)).toBeCloseTo(1, 1);
    expect(await reachedCapacity(small("models"), 1)).toBeLessThan(0.9);
  });
});

describe("placement on modelled Islands", () => {
  it("is the same for the same seed", async () => {
    const first = await runScheduler(small("uneven"), 0.6, 3);
    const second = await runScheduler(small("uneven"), 0.6, 3);
    expect(first).toEqual(second);
    expect(seeded(1)()).not.toBe(seeded(2)());
  });

  it.each(["equal", "uneven", "joins-faster", "slows", "conversations"])(
    "%s: is close to an oracle that knows all speeds, and no worse than the least busy Island",
    async (name) => {
      const fleet = small(name);
      const atoll = measure(fleet, await runScheduler(fleet, 0.6, 1));
      const best = measure(fleet, await runPolicy(fleet, 0.6, 1, oracle(true, false)));
      const leastBusy = measure(fleet, await runPolicy(fleet, 0.6, 1, leastBusyFirst));
      // Few chats: the trials at the start count more than in the bench.
      expect(atoll.meanMs / best.meanMs).toBeLessThan(1.2);
      expect(atoll.meanMs / leastBusy.meanMs).toBeLessThan(1.05);
    },
  );

  it("gives a faster Island that joins its part of the work within 100 chats", async () => {
    const { newcomerPart } = measure(small("joins-faster"), await runScheduler(small("joins-faster"), 0.6, 1));
    expect(newcomerPart).toBeGreaterThan(1);
  });

  it("gives a faster Island that joins little of the work by the old rank", async () => {
    const { newcomerPart } = measure(small("joins-faster"), await runPolicy(small("joins-faster"), 0.3, 1, oldRank));
    expect(newcomerPart).toBeLessThan(0.5);
  });

  it("gives an Island that slows to a tenth little of the work", async () => {
    const { ended } = await runScheduler(small("slows"), 0.6, 1);
    const slow = ended.filter(({ nth, islandId }) => nth >= 250 && islandId === "isle-00000");
    // An eighth of 350 chats would be 44.
    expect(slow.length).toBeLessThanOrEqual(10);
  });
});
