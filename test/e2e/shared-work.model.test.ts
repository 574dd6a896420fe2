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

const [title, options] = unlessSeveral(
  "shares the work of 16 clients between two equal Islands within 20 %",
  "a coordinator prefers its own Islands",
);

it(
  title,
  // Other programs may slow one of the Islands for the whole run.
  { ...options, retry: 2 },
  async () => {
    /** Time in which each Island ran jobs. Their number depends on the speed that a busy machine leaves to each. */
    const busyMs = new Map<string, number>();
    const client = async (nth: number): Promise<void> => {
      for (let job = 0; job < JOBS_OF_CLIENT; job += 1) {
        const input = { prompt: `Count from ${nth} to ${nth + 9}.`, max_tokens: 40 };
        const sent = await call(network.url, key, "POST", "/jobs", { workload: "tiny-chat", input });
        const { body } = await call(network.url, key, "GET", `/jobs/${sent.body.data.id}?wait=60`);
        const { status, island_id: islandId, duration_ms: durationMs } = body.data;
        expect(status).toBe("completed");
        busyMs.set(islandId, (busyMs.get(islandId) ?? 0) + durationMs);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, nth) => client(nth)));
    expect(busyMs.size).toBe(2);
    const meanMs = [...busyMs.values()].reduce((sum, ms) => sum + ms, 0) / 2;
    for (const ms of busyMs.values())
      expect(Math.abs(ms / meanMs - 1), JSON.stringify([...busyMs])).toBeLessThanOrEqual(0.2);
  },
);
