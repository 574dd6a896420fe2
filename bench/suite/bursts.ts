import { availableParallelism } from "node:os";
import { alternate, figureOf, type Metrics, type Samples, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget } from "../harness/bench.ts";
import { measureCeiling } from "../harness/ceiling.ts";
import {
  chatLoad,
  joinIslands,
  limitFigures,
  limitsOf,
  measureWindow,
  startClients,
  underLoad,
  WARM_UP_CHATS,
} from "../harness/loads.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";

const TOKENS = 16;
const ISLANDS = 16;
const SLOTS = 16;
const CLIENTS = [1, 32];
const MIN_RATIO = 0.7;
/** Chats per second of a relay without storage (llama-swap), on a machine whose bare loop exceeds 6,000. */
const [LLAMA_SWAP, FAST_BARE_LOOP] = [4_308, 6_000];
const CORES = availableParallelism();
/** Formats a number of chats per second. */
const perSecond = (rate: number): string => `${rate.toLocaleString("en-US")}/s`;
const BARE = { variant: "bare", name: "bare loop" };

/** Measures the cost of a chat, with chats streamed without delays. */
export const bursts: Bench = {
  name: "bursts",
  title: `Bursts (${TOKENS} tokens at once, streamed)`,
  async run(options): Promise<BenchResult> {
    const ceiling = await measureCeiling(options, TOKENS);
    const samples = await alternate(
      options.runs,
      { atoll: () => measure("atoll", options), bare: () => measure("bare", options) },
      options.log,
    );
    const figures = CLIENTS.flatMap((clients) => {
      const name = `${clients} client${clients === 1 ? "" : "s"}`;
      const budget: Budget = {
        text: `≥ ${MIN_RATIO} × bare loop, and ≥ ${perSecond(LLAMA_SWAP)} if the bare loop reaches ${perSecond(FAST_BARE_LOOP)}`,
        isMet: ({ ratio, median, baseline }) =>
          ratio >= MIN_RATIO && (baseline < FAST_BARE_LOOP || median >= LLAMA_SWAP),
        limit: {
          name: `bare loop + storage thread + load generators on ${CORES} cores`,
          values: possible(samples, clients),
        },
      };
      const isLast = clients === CLIENTS.at(-1);
      return [
        figureOf(samples, {
          what: `Chats, ${name}`,
          unit: "/s",
          metric: `chats/s ${clients}`,
          against: BARE,
          ...(isLast ? { budget } : {}),
        }),
        figureOf(samples, {
          what: `Chat latency, p50, ${name}`,
          unit: "ms",
          metric: `p50 ms ${clients}`,
          against: BARE,
        }),
        figureOf(samples, {
          what: `Chat latency, p99, ${name}`,
          unit: "ms",
          metric: `p99 ms ${clients}`,
          against: BARE,
        }),
        figureOf(samples, { what: `CPU per chat, ${name}`, unit: "µs", metric: `cpu µs ${clients}`, against: BARE }),
        ...(isLast ? limitFigures(samples, name, clients) : []),
      ];
    });
    return { figures, notes: [ceiling] };
  },
};

/** Returns the chats per second that the bare loop and the storage thread permit. */
function possible(samples: Samples, level: number): number[] {
  const storageUs = valuesOf(samples, "atoll", `storage µs ${level}`);
  const generatorsUs = valuesOf(samples, "atoll", `generators µs ${level}`);
  const bareUs = valuesOf(samples, "bare", `cpu µs ${level}`);
  return ofEachRun(
    (bare, storage, generators) => (CORES * 1e6) / (bare + storage + generators),
    ...[bareUs, storageUs, generatorsUs],
  );
}

async function measure(kind: ServerKind, { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, {
    count: ISLANDS,
    slots: SLOTS,
    script: { tokens: TOKENS, gapMs: 0 },
  });
  await using clients = await startClients();
  const metrics: Record<string, number> = {};
  // The measurement starts with the most clients, because with a single client it would measure code that is not
  // compiled yet.
  for (const level of CLIENTS.toReversed()) {
    const load = chatLoad(server, key, level, TOKENS);
    const figures = await underLoad(
      clients,
      load,
      isQuick ? 300 : 2_000,
      () => measureWindow(server, clients, isQuick ? 700 : 4_000, islands),
      isQuick || level === 1 ? 0 : WARM_UP_CHATS,
    );
    const { answered, seconds, p50Ms, p99Ms, cpuS, storageS, generatorsS } = figures;
    Object.assign(metrics, {
      ...limitsOf(figures, level),
      [`chats/s ${level}`]: answered / seconds,
      [`p50 ms ${level}`]: p50Ms,
      [`p99 ms ${level}`]: p99Ms,
      [`cpu µs ${level}`]: (cpuS * 1e6) / answered,
      [`storage µs ${level}`]: (storageS * 1e6) / answered,
      [`generators µs ${level}`]: (generatorsS * 1e6) / answered,
    });
  }
  await islands.call("counts", undefined);
  return metrics;
}
