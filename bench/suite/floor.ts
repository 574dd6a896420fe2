import { availableParallelism } from "node:os";
import { alternate, figureOf, type Metrics, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { measureCommits } from "../harness/measure-commits.ts";
import { chatLoad, joinIslands, measureWindow, startClients, underLoad, WARM_UP_CHATS } from "../harness/loads.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";

const TOKENS = 16;
const CLIENTS = 32;

/** Measures the cost of a chat in each indispensable part: the limit of this machine. */
export const floor: Bench = {
  name: "floor",
  title: `Lower bound of a chat: HTTP and frames, and commits only (${TOKENS} tokens at once, ${CLIENTS} clients)`,
  async run(options): Promise<BenchResult> {
    const samples = await alternate(
      options.runs,
      {
        atoll: () => measure("atoll", options),
        bare: () => measure("bare", options),
        commits: () => measureCommits(options),
      },
      options.log,
    );
    const of = (variant: string, metric: string): readonly number[] => valuesOf(samples, variant, metric);
    const cores = availableParallelism();
    const possible = of("bare", "cpu µs").map((bareUs, run) => {
      const needed = [bareUs, of("commits", "chat µs")[run], of("atoll", "generators µs")[run]];
      return (cores * 1e6) / needed.reduce((sum: number, us = Number.NaN) => sum + us, 0);
    });
    return {
      figures: [
        {
          what: "Chats, compared with the limit of HTTP, frames, commits and load generators",
          unit: "/s",
          values: of("atoll", "chats/s"),
          baseline: { name: `limit on ${cores} cores`, values: possible },
        },
        figureOf(samples, {
          what: "CPU per chat, all threads",
          unit: "µs",
          metric: "cpu µs",
          against: { variant: "bare", name: "bare loop (HTTP, frames, SSE)" },
        }),
        figureOf(samples, {
          what: "CPU per chat, all threads",
          unit: "µs",
          metric: "cpu µs",
          against: { variant: "commits", name: "commits only", metric: "chat µs" },
        }),
        figureOf(samples, { what: "CPU per chat, load generators", unit: "µs", metric: "generators µs" }),
        figureOf(samples, { what: "Chats, commits only", unit: "/s", of: "commits", metric: "chats/s" }),
        figureOf(samples, {
          what: "Waiting jobs, commits only (assign, start, end)",
          unit: "/s",
          of: "commits",
          metric: "jobs/s",
        }),
        figureOf(samples, { what: "CPU per waiting job, commits only", unit: "µs", of: "commits", metric: "job µs" }),
      ],
    };
  },
};

async function measure(kind: ServerKind, { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, { count: 16, slots: 16, script: { tokens: TOKENS, gapMs: 0 } });
  await using clients = await startClients();
  const load = chatLoad(server, key, CLIENTS, TOKENS);
  const window = async (): Promise<Metrics> => {
    const measured = await measureWindow(server, clients, isQuick ? 700 : 4_000, islands);
    const { answered, seconds, cpuS, generatorsS } = measured;
    return {
      "chats/s": answered / seconds,
      "cpu µs": (cpuS * 1e6) / answered,
      "generators µs": (generatorsS * 1e6) / answered,
    };
  };
  const metrics = await underLoad(clients, load, isQuick ? 300 : 2_000, window, isQuick ? 0 : WARM_UP_CHATS);
  await islands.call("counts", undefined);
  return metrics;
}
