import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { unlessSeveral } from "../support/network/several-coordinators.ts";

const CLIENTS = 16;
const JOBS_OF_CLIENT = 15;

let network: Network;
let key: string;

beforeAll(async () => {
  network = await Network.open();
  const account = network.createAccount("host@example.com", 1_000_000, { concurrentJobs: CLIENTS });
  ({ key } = account);
  await network.startIsland("one", account.islandToken);
  await network.startIsland("two", account.islandToken);
}, 60_000);
afterAll(() => network[Symbol.asyncDispose]());

it(
  ...unlessSeveral(
    "shares the work of 16 clients between two equal Islands within 20 %",
    "a coordinator prefers its own Islands",
  ),
  async () => {
    const counts = new Map<string, number>();
    const client = async (nth: number): Promise<void> => {
      for (let job = 0; job < JOBS_OF_CLIENT; job += 1) {
        const input = { prompt: `Count from ${nth} to ${nth + 9}.`, max_tokens: 40 };
        const sent = await call(network.url, key, "POST", "/jobs", { workload: "tiny-chat", input });
        const { body } = await call(network.url, key, "GET", `/jobs/${sent.body.data.id}?wait=60`);
        const { status, island_id: islandId } = body.data;
        expect(status).toBe("completed");
        counts.set(islandId, (counts.get(islandId) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, nth) => client(nth)));
    const mean = (CLIENTS * JOBS_OF_CLIENT) / 2;
    expect(counts.size).toBe(2);
    for (const count of counts.values())
      expect(Math.abs(count / mean - 1), JSON.stringify([...counts])).toBeLessThanOrEqual(0.2);
  },
);
