import { describe, expect, it } from "vitest";
import { type Cost, RelayWorld } from "./relay-world.ts";

/*
 * Work of the coordinator for one more token and one more chat. Counts, unlike times, do not depend on the load of the
 * machine. Most limits are about 1.3 times the count of 2026-11-28 (Node.js 24.21, Linux). docs/internals/performance.md
 * explains the costs.
 */
const TOKENS = 16;
const LIMITS = {
  spacedToken: { reads: 1.35, writes: 1.35, allocatedBytes: 12_400, bytesWritten: 210 },
  gatheredToken: { reads: 0.1, writes: 0.1, allocatedBytes: 7_600, bytesWritten: 100 },
  // One commit, or two if a busy machine reads the end of the chat later than its start. `offers.integration.test.ts` expects one.
  chat: { reads: 9, writes: 8, allocatedBytes: 360_000, bytesWritten: 27_000, acks: 2, commits: 2 },
} as const;
const ROUNDS = 3;

type Counts = Record<"reads" | "writes" | "allocatedBytes" | "bytesWritten" | "acks" | "commits", number>;

/**
 * Counts per unit of work. Takes several rounds, because the end of a V8 compiler thread wakes the main thread by
 * system calls.
 */
async function count(units: number, measure: () => Promise<Cost>): Promise<Counts> {
  const rounds: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure());
  const sorted = (of: (cost: Cost) => number): number[] => rounds.map((cost) => of(cost) / units).sort((a, b) => a - b);
  const least = (of: (cost: Cost) => number): number => sorted(of)[0] ?? NaN;
  const median = (of: (cost: Cost) => number): number => sorted(of)[Math.floor(ROUNDS / 2)] ?? NaN;
  return {
    reads: least(({ main }) => main.reads),
    writes: least(({ main }) => main.writes),
    allocatedBytes: median((cost) => cost.allocatedBytes),
    bytesWritten: median(({ others }) => others.bytesWritten),
    acks: median(({ acks }) => acks),
    commits: median(({ commits }) => commits),
  };
}

function expectWithin(counts: Counts, limits: Partial<Counts>): void {
  for (const [name, limit] of Object.entries(limits)) {
    expect(counts[name as keyof Counts], `${name} in ${JSON.stringify(counts)}`).toBeLessThanOrEqual(limit);
  }
}

describe.skipIf(process.platform !== "linux")("the coordinator's work (counted in /proc, Linux only)", () => {
  it("stays within the limits per token and per chat", async () => {
    await using world = await RelayWorld.open();
    const chats = async (count: number): Promise<void> => {
      for (let chat = 0; chat < count; chat += 1) await world.burstChat(TOKENS);
    };
    // Warms up until the code is compiled.
    await world.spacedChat(250);
    await chats(15);
    await world.burstChat(500);

    const spaced = await count(200, () => world.costOf(() => world.spacedChat(200)));
    const chat = await count(6, () => world.costOf(() => chats(6)));
    const gathered = await count(500, () => world.costOf(() => world.burstChat(500)));

    // The counters must work.
    expect(Math.min(spaced.reads, spaced.writes, spaced.allocatedBytes / 100)).toBeGreaterThan(0.9);
    expect(chat.bytesWritten).toBeGreaterThan(5_000);
    expectWithin(spaced, LIMITS.spacedToken);
    expectWithin(gathered, LIMITS.gatheredToken);
    expectWithin(chat, LIMITS.chat);
    if (process.env["ATOLL_SHOW_COUNTS"] === "1")
      process.stdout.write(`${JSON.stringify({ spaced, gathered, chat })}\n`);
  });
});
