import { alternate, figureOf, type Metrics, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { measureCeiling } from "../harness/ceiling.ts";
import {
  chatLoad,
  limitFigures,
  limitsOf,
  makeSeats,
  measureWindow,
  startClients,
  startIslandsProcess,
  underLoad,
} from "../harness/loads.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";

const TOKENS = 2_000;
/** Number of streams, each on its own Island. */
const STREAMS = 40;
const MIN_TOKENS_PER_CORE = 100_000;
const MIN_RATIO = 0.8;

/** Measures the cost of a token in long completions at full speed, with one token per frame. */
export const relay: Bench = {
  name: "relay",
  title: `Tokens at full speed (${STREAMS} streams of ${TOKENS.toLocaleString("en-US")} tokens)`,
  async run(options): Promise<BenchResult> {
    const ceiling = await measureCeiling(options, TOKENS);
    const samples = await alternate(
      options.runs,
      { atoll: () => measure("atoll", options), bare: () => measure("bare", options) },
      options.log,
    );
    const against = { variant: "bare", name: "bare loop" };
    const storageS = valuesOf(samples, "atoll", "storage s/token");
    const bareRates = valuesOf(samples, "bare", "tokens/core s");
    const possible = ofEachRun((rate, seconds) => 1 / (1 / rate + seconds), bareRates, storageS);
    return {
      figures: [
        figureOf(samples, {
          what: "Tokens relayed per core-second",
          unit: "",
          metric: "tokens/core s",
          against,
          budget: {
            text: `≥ ${MIN_TOKENS_PER_CORE.toLocaleString("en-US")} and ≥ ${MIN_RATIO} × bare loop (decision 0039)`,
            isMet: ({ median, ratio }) => median >= MIN_TOKENS_PER_CORE && ratio >= MIN_RATIO,
            limit: { name: "bare loop + storage thread", values: possible },
          },
        }),
        figureOf(samples, { what: "Tokens relayed", unit: "/s", metric: "tokens/s", against }),
        figureOf(samples, { what: "Process CPU", unit: "% of a core", metric: "core %", against }),
        ...limitFigures(samples, `${STREAMS} streams`, STREAMS),
      ],
      notes: [`${ceiling} Each of these chats and runs has ${TOKENS.toLocaleString("en-US")} tokens.`],
    };
  },
};

async function measure(kind: ServerKind, { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await startIslandsProcess();
  const streams = isQuick ? 4 : STREAMS;
  await islands.call("script", { tokens: TOKENS, gapMs: 0 });
  // One account per Island, because the coordinator limits the frames of an account per tick of its event loop.
  const seats = Array.from({ length: streams }, (_, index) => makeSeats(server, 1, index)).flat();
  await islands.call("connect", { url: server.url, seats, slots: 1 });
  await using clients = await startClients();
  const load = chatLoad(server, key, streams, TOKENS);
  const figures = await underLoad(clients, load, isQuick ? 500 : 2_000, () =>
    measureWindow(server, clients, isQuick ? 1_000 : 5_000),
  );
  const { tokens, seconds, cpuS, storageS } = figures;
  await islands.call("counts", undefined);
  return {
    ...limitsOf(figures, STREAMS),
    "tokens/core s": tokens / cpuS,
    "storage s/token": storageS / tokens,
    "tokens/s": tokens / seconds,
    "core %": (cpuS / seconds) * 100,
  };
}
