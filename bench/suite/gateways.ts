import { type ChatSystem, findGateways, openEngine, openGateway, openServer } from "../baselines/gateways.ts";
import { alternate, lineOf, type Metrics, type Samples, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Figure } from "../harness/bench.ts";
import { formatNumber } from "../harness/format-number.ts";
import type { LinePlot, Panel } from "../harness/line-plot.ts";
import { measureWindow, startClients, underLoad, WARM_UP_CHATS } from "../harness/loads.ts";
import { scriptedText } from "../load/frames.ts";
import type { ClientLoad, PacedMetrics } from "../load/http-clients.ts";
import { diskBytesWritten } from "../harness/process-facts.ts";
import { summarize } from "../harness/statistics.ts";

/** Tokens of a chat without gaps. */
const TOKENS = 16;
/** The gap, the limits and the measurements are those of the published benchmark "On the Bench" (GetBusbar/benchmarking). */
const GAP_MS = 20;
const PACED_STREAMS = 8;
const P99_LIMITS_MS = [1, 5, 10, 50];
/** A stream stalls if a token arrives more than this many gaps after the one before it. */
const STALL_GAPS = 10;
const DIRECT = "direct";

interface Sizes {
  /** Numbers of clients, from one. */
  readonly clients: readonly number[];
  readonly windowMs: number;
  readonly streams: readonly number[];
  readonly pacedTokens: number;
  readonly pacedMs: number;
  readonly warmUpChats: number;
}
const FULL: Sizes = {
  clients: [1, 2, 4, 8, 16, 32, 64],
  windowMs: 1_000,
  streams: [64, 128, 256, 512, 1_024],
  pacedTokens: 64,
  pacedMs: 2_000,
  warmUpChats: WARM_UP_CHATS,
};
const QUICK: Sizes = { clients: [1, 4], windowMs: 300, streams: [2, 4], pacedTokens: 16, pacedMs: 500, warmUpChats: 0 };

/** Measures gateways in front of a scripted engine, and the coordinator with scripted Islands. */
export const gateways: Bench = {
  name: "gateways",
  title: "Gateways",
  async run(options): Promise<BenchResult> {
    const sizes = options.isQuick ? QUICK : FULL;
    const { gateways: found, notes } = await findGateways();
    const systems: Record<string, () => Promise<ChatSystem>> = {
      [DIRECT]: openEngine,
      "bare loop": () => openServer("bare"),
      Atoll: () => openServer("atoll"),
      ...Object.fromEntries(found.map((gateway) => [gateway.name, () => openGateway(gateway)])),
    };
    const variants = Object.entries(systems).map(
      ([name, open]) => [name, () => measure(open, sizes, options)] as const,
    );
    const samples = await alternate(options.runs, Object.fromEntries(variants), options.log);
    const names = Object.keys(systems);
    const measures = measuresOf(sizes);
    return {
      figures: measures.flatMap((each) => names.map((name) => figureFor(samples, each, name))),
      plots: [plot(samples, names, sizes.clients)],
      notes: [...notes, EXPLANATION, matrix(samples, measures, names).join("\n"), LEFT_OUT, PUBLISHED.join("\n")],
    };
  },
};

async function measure(open: () => Promise<ChatSystem>, sizes: Sizes, { log }: BenchOptions): Promise<Metrics> {
  await using system = await open();
  await system.script({ tokens: TOKENS, gapMs: 0 });
  const frontier = await measureFrontier(system, sizes);
  const first = await measureFirstToken(system, sizes);
  await system.script({ tokens: sizes.pacedTokens, gapMs: GAP_MS });
  const gaps = await measureGaps(system, sizes);
  return { ...frontier, ...first, ...gaps, held: await countHeld(system, sizes, log) };
}

/** Measures rates and p99 for growing numbers of clients, from the most to one, because code must be compiled first. */
async function measureFrontier(
  system: ChatSystem,
  { clients: levels, windowMs, warmUpChats }: Sizes,
): Promise<Metrics> {
  await using clients = await startClients();
  const most = Math.max(...levels);
  const metrics: Record<string, number> = {};
  for (const limitMs of P99_LIMITS_MS) metrics[`chats/s within ${limitMs}`] = 0;
  for (const level of levels.toReversed()) {
    const load = wholeLoad(system, level);
    const window = async (): Promise<void> => {
      const diskBefore = diskBytesWritten(system.pid);
      const { answered, seconds, p50Ms, p99Ms, cpuS } = await measureWindow(system, clients, windowMs);
      const rate = answered / seconds;
      metrics[`chats/s ${level}`] = rate;
      metrics[`p99 ms ${level}`] = p99Ms;
      for (const limitMs of P99_LIMITS_MS.filter((each) => p99Ms <= each)) {
        const name = `chats/s within ${limitMs}`;
        metrics[name] = Math.max(metrics[name] ?? 0, rate);
      }
      if (level === 1) metrics["p50 ms"] = p50Ms;
      if (level === most) {
        metrics["cpu µs"] = (cpuS * 1e6) / answered;
        metrics["disk B"] = (diskBytesWritten(system.pid) - diskBefore) / answered;
      }
    };
    await underLoad(clients, load, windowMs / 5, window, level === most ? warmUpChats : 0);
  }
  return metrics;
}

/** Returns a load of chats that are not streamed, because some gateways delay a stream. */
function wholeLoad(system: ChatSystem, clients: number): ClientLoad {
  const load = system.load(clients, TOKENS);
  const body = { ...(load.body as object), stream: false };
  return { ...load, body, expect: { status: 200, text: scriptedText(TOKENS) } };
}

async function measureFirstToken(system: ChatSystem, { windowMs, warmUpChats }: Sizes): Promise<Metrics> {
  await using clients = await startClients();
  const window = (): Promise<PacedMetrics> => clients.call("measure", { ms: windowMs });
  await underLoad(clients, system.load(PACED_STREAMS, TOKENS), windowMs / 5, async () => undefined, warmUpChats / 4);
  const { firstTokenP50Ms } = await underLoad(clients, system.load(1, TOKENS), windowMs / 5, window);
  return { "first ms": firstTokenP50Ms };
}

const pacedLoad = (system: ChatSystem, streams: number, { pacedTokens }: Sizes): ClientLoad => ({
  ...system.load(streams, pacedTokens),
  isPaced: true,
});

async function measureGaps(system: ChatSystem, sizes: Sizes): Promise<Metrics> {
  await using clients = await startClients();
  const load = pacedLoad(system, PACED_STREAMS, sizes);
  const window = (): Promise<PacedMetrics> => clients.call("measure", { ms: sizes.pacedMs });
  const { gapP50Ms, gapP99Ms } = await underLoad(clients, load, sizes.pacedMs / 4, window);
  return { "gap p50 ms": gapP50Ms, "gap p99 ms": gapP99Ms };
}

/** Returns the highest number of streams that receive all tokens without a stall. */
async function countHeld(system: ChatSystem, sizes: Sizes, log: BenchOptions["log"]): Promise<number> {
  let held = 0;
  for (const streams of sizes.streams) {
    await using clients = await startClients();
    try {
      await clients.call("start", pacedLoad(system, streams, sizes));
      const { longestGapMs } = await clients.call("measure", { ms: sizes.pacedMs });
      await clients.call("stop", undefined);
      if (longestGapMs > STALL_GAPS * GAP_MS) return held;
    } catch (error) {
      log(`${streams} streams failed: ${String(error).slice(0, 300)}`);
      return held;
    }
    held = streams;
  }
  return held;
}

interface Measure {
  readonly what: string;
  readonly unit: string;
  readonly metric: string;
  /** Whether the value of the direct calls is subtracted. */
  readonly isAdded?: boolean;
}

const measuresOf = ({ clients }: Sizes): Measure[] => [
  ...P99_LIMITS_MS.map((limitMs) => ({
    what: `Chats/s at p99 ≤ ${limitMs} ms`,
    unit: "/s",
    metric: `chats/s within ${limitMs}`,
  })),
  { what: "Chat latency, p50, 1 client", unit: "ms", metric: "p50 ms", isAdded: true },
  { what: "Time to first token, p50, 1 client", unit: "ms", metric: "first ms", isAdded: true },
  { what: "Time between tokens, p50", unit: "ms", metric: "gap p50 ms", isAdded: true },
  { what: "Time between tokens, p99", unit: "ms", metric: "gap p99 ms", isAdded: true },
  { what: "Streams held", unit: "streams", metric: "held" },
  { what: `CPU per chat, ${Math.max(...clients)} clients`, unit: "µs", metric: "cpu µs" },
  { what: `Disk writes per chat, ${Math.max(...clients)} clients`, unit: "bytes", metric: "disk B" },
];

function figureFor(samples: Samples, { what, unit, metric, isAdded = false }: Measure, name: string): Figure {
  const values = valuesOf(samples, name, metric);
  if (!isAdded || name === DIRECT) return { what: `${what}, ${name}`, unit, values };
  const added = ofEachRun((value, direct) => value - direct, values, valuesOf(samples, DIRECT, metric));
  return { what: `${what}, added by ${name}`, unit, values: added };
}

/** Returns a table of the medians with a row for each system. */
function matrix(samples: Samples, measures: readonly Measure[], names: readonly string[]): string[] {
  const heads = measures.map(({ what, unit }) => (unit === "ms" || unit === "µs" ? `${what}, ${unit}` : what));
  const rows = names.map((name) => {
    const medians = measures.map((each) => summarize(figureFor(samples, each, name).values).median);
    return `| ${[name, ...medians.map(formatNumber)].join(" | ")} |`;
  });
  return [`| Median | ${heads.join(" | ")} |`, `|---|${heads.map(() => "---|").join("")}`, ...rows];
}

/** Returns the plot of all systems but the direct calls, whose rates would hide the differences between the others. */
function plot(samples: Samples, names: readonly string[], levels: readonly number[]): LinePlot {
  const panel = (label: string, metric: string): Panel => ({
    label,
    lines: names.filter((name) => name !== DIRECT).map((name) => lineOf(samples, name, name, metric, levels)),
  });
  return {
    name: "gateways",
    title: `Chats of ${TOKENS} tokens, not streamed`,
    x: { label: "clients", values: levels },
    panels: [panel("Chats per second", "chats/s"), panel("Chat latency, p99, ms", "p99 ms")],
  };
}

const EXPLANATION = `"direct" is the scripted engine without a gateway. Its times are absolute, and those of the others are what they add to it. A rate of 0 means that no number of clients met the limit. CPU and disk writes are those of the server. The engine or the Islands behind it are not included. The coordinator authenticates, accounts and stores each chat. The gateways store nothing. Portkey and LLMOps, which is its fork, wait 25 ms before the first token of each stream. Only times of tokens are measured with streams.`;

const LEFT_OUT =
  "Portkey runs with @hono/node-server 1.13.8, because its streams fail with newer versions (Portkey-AI/gateway#1389). Not measured: @nullplatform/llm-gateway 2.0.11 repeats the last token of a stream, @khanglvm/llm-router 2.6.2 and @musistudio/claude-code-router 3.1.1 depend on packages that npm does not have, and @maximhq/bifrost 1.6.3 downloads its program at its start. llama-swap is in neither npm nor Debian.";

const PUBLISHED = [
  "Published figures, **not measured here**, on other machines and with other loads:",
  "",
  "| System | Published figure | Machine | Source |",
  "|---|---|---|---|",
  "| agentgateway | 23,630 requests/s at a tail of 1 ms | Graviton3, 4 cores | GetBusbar/benchmarking |",
  "| Bifrost | adds 0.059 ms without HTTP and JSON, at 5,000 requests/s | t3.medium, 2 cores | docs.getbifrost.ai |",
  "| Bifrost | 424 requests/s of 500, adds 0.99 ms | t3.medium, 2 cores | getmaxim.ai |",
  "| LiteLLM | 45 requests/s of 500, adds 40 ms | t3.medium, 2 cores | getmaxim.ai |",
  "| Bifrost | adds 0.44 to 0.62 ms, 1 client | GitHub runner | cuihuan/llm-gateway-bench |",
  "| Portkey 1.15.2 | adds 2.37 to 2.65 ms, 1 client | GitHub runner | cuihuan/llm-gateway-bench |",
  "| LiteLLM 1.91.1 | adds 4.34 ms, 1 client | GitHub runner | cuihuan/llm-gateway-bench |",
];
