import {
  alternate,
  figureOf,
  type FigureRecipe,
  lineOf,
  type Metrics,
  type Samples,
  ofEachRun,
  valuesOf,
} from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget, Figure } from "../harness/bench.ts";
import {
  chatLoad,
  joinIslands,
  limitFigures,
  limitsOf,
  measureWindow,
  startClients,
  underLoad,
} from "../harness/loads.ts";
import type { LinePlot, Panel } from "../harness/line-plot.ts";
import { diskBytesWritten, residentMb } from "../harness/process-facts.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";

const TOKENS = 16;
const GAP_MS = 20;
const ISLANDS = 16;
const BUDGET_STREAMS = 64;
const MAX_CPU_RATIO = 1.5;
const WARM_UP_STREAMS = 600;

/** Measures the cost of a single token, with completions of 16 tokens, 20 ms apart. */
export const streams: Bench = {
  name: "streams",
  title: `Paced streams (${TOKENS} tokens, ${GAP_MS} ms apart)`,
  async run(options): Promise<BenchResult> {
    const levels = options.isQuick ? [1, 8] : [1, 64, 256, 512];
    const samples = await alternate(
      options.runs,
      { atoll: () => measure("atoll", levels, options), bare: () => measure("bare", levels, options) },
      options.log,
    );
    const budgetLevel = levels.includes(BUDGET_STREAMS) ? BUDGET_STREAMS : levels.at(-1);
    return {
      figures: levels.flatMap((level) => levelFigures(samples, level, level === budgetLevel)),
      plots: [plot(samples, levels)],
    };
  },
};

async function measure(kind: ServerKind, levels: readonly number[], { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, {
    count: ISLANDS,
    slots: Math.max(...levels),
    script: { tokens: TOKENS, gapMs: GAP_MS },
  });
  await using clients = await startClients();
  const metrics: Record<string, number> = {};
  // Without this warm-up, the level with a single stream would measure code that is not compiled yet.
  if (!isQuick) {
    const load = chatLoad(server, key, BUDGET_STREAMS, TOKENS);
    await underLoad(clients, load, 1_000, async () => undefined, WARM_UP_STREAMS);
  }
  for (const level of levels) {
    const [warmUpMs, windowMs] = isQuick ? [500, 1_000] : [1_500, 4_000];
    await underLoad(clients, chatLoad(server, key, level, TOKENS), warmUpMs, async () => {
      const disk = diskBytesWritten(server.pid);
      const figures = await measureWindow(server, clients, windowMs);
      const { cpuS, storageS, tokens, seconds, answered, firstTokenP50Ms, firstTokenP99Ms } = figures;
      Object.assign(metrics, {
        [`storage µs/token ${level}`]: (storageS * 1e6) / tokens,
        [`cpu µs/token ${level}`]: (cpuS * 1e6) / tokens,
        ...limitsOf(figures, level),
        [`core % ${level}`]: (cpuS / seconds) * 100,
        [`chats/s ${level}`]: answered / seconds,
        [`first ms ${level}`]: firstTokenP50Ms,
        [`first p99 ms ${level}`]: firstTokenP99Ms,
        [`resident MB ${level}`]: residentMb(server.pid),
        [`disk B/token ${level}`]: (diskBytesWritten(server.pid) - disk) / tokens,
      });
    });
  }
  await islands.call("counts", undefined);
  return metrics;
}

const BARE = { variant: "bare", name: "bare loop" };

function levelFigures(samples: Samples, level: number, hasBudget: boolean): Figure[] {
  const figure = (
    what: string,
    unit: string,
    metric: string,
    more: Partial<FigureRecipe> = { against: BARE },
  ): Figure =>
    figureOf(samples, {
      what: `${what}, ${level} stream${level === 1 ? "" : "s"}`,
      unit,
      metric: `${metric} ${level}`,
      ...more,
    });
  const bareUs = valuesOf(samples, "bare", `cpu µs/token ${level}`);
  const storageUs = valuesOf(samples, "atoll", `storage µs/token ${level}`);
  const budget: Budget = {
    text: `≤ ${MAX_CPU_RATIO} × baseline`,
    isMet: ({ ratio }) => ratio <= MAX_CPU_RATIO,
    limit: {
      name: "bare loop + storage thread",
      values: ofEachRun((bare, storage) => bare + storage, bareUs, storageUs),
    },
  };
  return [
    figure("CPU per paced token", "µs", "cpu µs/token", { against: BARE, ...(hasBudget ? { budget } : {}) }),
    figure("Process CPU", "% of a core", "core %"),
    figure("Chats", "/s", "chats/s"),
    figure("Time to first token, p50", "ms", "first ms"),
    figure("Time to first token, p99", "ms", "first p99 ms"),
    figure("CPU per paced token in the storage thread", "µs", "storage µs/token", {}),
    figure("Disk writes per token", "bytes", "disk B/token", {}),
    figure("Resident memory", "MB", "resident MB"),
    ...(level === 1 ? [] : limitFigures(samples, `${level} streams`, level)),
  ];
}

function plot(samples: Samples, levels: readonly number[]): LinePlot {
  const panel = (label: string, metric: string): Panel => ({
    label,
    lines: [
      lineOf(samples, "atoll", "coordinator", metric, levels),
      lineOf(samples, "bare", "bare loop", metric, levels),
    ],
  });
  return {
    name: "streams",
    title: `${TOKENS} tokens, ${GAP_MS} ms apart`,
    x: { label: "concurrent streams", values: levels },
    panels: [
      panel("Time to first token, p50, ms", "first ms"),
      panel("CPU per token, µs", "cpu µs/token"),
      panel("Resident memory, MB", "resident MB"),
    ],
  };
}
