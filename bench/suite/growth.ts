import { systemClock } from "../../shared/clock.ts";
import { alternate, figureOf, type Metrics } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { chatLoad, joinIslands, startClients } from "../harness/loads.ts";
import { residentMb } from "../harness/process-facts.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";
import { untilAcknowledged } from "../harness/until-acknowledged.ts";

const TOKENS = 16;
const CLIENTS = 32;
/** Growth that is tolerated, because of garbage and the allocator. */
const MAX_GROWTH = 1.1;

/** Measures memory after many chats. Growth in the second half is a leak. */
export const growth: Bench = {
  name: "growth",
  title: "Memory after many chats",
  async run(options): Promise<BenchResult> {
    const half = options.isQuick ? 200 : 30_000;
    const samples = await alternate(
      options.runs,
      { atoll: () => measure("atoll", half, options), bare: () => measure("bare", half, options) },
      options.log,
    );
    const against = { variant: "bare", name: "bare loop" };
    const [first, second] = [half.toLocaleString("en-US"), (2 * half).toLocaleString("en-US")];
    return {
      figures: [
        figureOf(samples, { what: `Resident memory after ${first} chats`, unit: "MB", metric: "first MB", against }),
        figureOf(samples, { what: `Resident memory after ${second} chats`, unit: "MB", metric: "second MB", against }),
        figureOf(samples, {
          what: `Resident memory after ${second} chats`,
          unit: "MB",
          metric: "second MB",
          against: { variant: "atoll", name: `${first} chats`, metric: "first MB" },
          budget: { text: `≤ ${MAX_GROWTH} × baseline`, isMet: ({ ratio }) => ratio <= MAX_GROWTH },
        }),
      ],
    };
  },
};

async function measure(kind: ServerKind, half: number, { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, { count: 16, slots: 16, script: { tokens: TOKENS, gapMs: 0 } });
  await using clients = await startClients();
  const load = chatLoad(server, key, CLIENTS, TOKENS);
  const afterMore = async (total: number): Promise<number> => {
    await clients.call("submit", { load, count: half });
    await untilAcknowledged(islands, total);
    await systemClock.sleep(isQuick ? 200 : 5_000);
    return residentMb(server.pid);
  };
  return { "first MB": await afterMore(half), "second MB": await afterMore(2 * half) };
}
