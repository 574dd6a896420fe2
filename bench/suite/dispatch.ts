import { alternate, figureOf, lineOf, type Metrics, type Samples } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget } from "../harness/bench.ts";
import type { LinePlot, Panel } from "../harness/line-plot.ts";
import { BATCH_JOBS, batchLoad, makeSeats, startClients, startIslandsProcess } from "../harness/loads.ts";
import { cpuSeconds, residentMb } from "../harness/process-facts.ts";
import { startAtoll } from "../harness/servers.ts";
import { p50AndP99 } from "../harness/statistics.ts";
import { systemClock } from "../../shared/clock.ts";

const MAX_RATIO = 2;
/**
 * Number of measured rounds of an end and a dispatch. At the end of the rounds, the given number of jobs still waits.
 */
const [MIN_ROUNDS, MAX_ROUNDS] = [100, 1_000];

interface World {
  readonly islands: number;
  /** Numbers of waiting jobs, measured in this order in one coordinator. */
  readonly waiting: readonly number[];
}

/**
 * Measures the time from the end of an Island's job to its next job, while many jobs wait and many Islands are busy.
 */
export const dispatch: Bench = {
  name: "dispatch",
  title: "Dispatch with waiting jobs",
  async run(options): Promise<BenchResult> {
    const small: World = { islands: 10, waiting: options.isQuick ? [100] : [1, 100, 1_000, 10_000, 100_000] };
    const large: World = options.isQuick ? { islands: 30, waiting: [400] } : { islands: 10_000, waiting: [100_000] };
    const samples = await alternate(
      options.runs,
      { atoll: () => measure(small, options), large: () => measure(large, options) },
      options.log,
    );
    return { figures: figures(samples, large), plots: [plot(samples, small)] };
  },
};

function figures(samples: Samples, { islands, waiting }: World) {
  const level = waiting.at(-1) as number;
  const what = `${level.toLocaleString("en-US")} waiting jobs, ${islands.toLocaleString("en-US")} Islands`;
  const budget: Budget = {
    text: `≤ ${MAX_RATIO} × baseline (decision 0039)`,
    isMet: ({ ratio }) => ratio <= MAX_RATIO,
  };
  const figure = (name: string, unit: string, metric: string) =>
    figureOf(samples, {
      what: `${name}, ${what}`,
      unit,
      of: "large",
      metric: `${metric} ${level}`,
      against: { variant: "atoll", name: "100 waiting jobs, 10 Islands", metric: `${metric} 100` },
      ...(metric === "resident MB" ? {} : { budget }),
    });
  return [
    figure("CPU per job end and next dispatch", "µs", "cpu µs"),
    figure("Job end → next `assign`, p50", "ms", "p50 ms"),
    figure("Resident memory", "MB", "resident MB"),
  ];
}

async function measure({ islands, waiting }: World, { isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startAtoll();
  const { key } = server.account("client");
  await using scripted = await startIslandsProcess();
  await using clients = await startClients();
  const submit = async (jobs: number): Promise<void> => {
    const rest = jobs % BATCH_JOBS;
    await clients.call("submit", { load: batchLoad(server, key, 8), count: (jobs - rest) / BATCH_JOBS });
    if (rest > 0) await clients.call("submit", { load: batchLoad(server, key, 1, rest), count: 1 });
    await systemClock.sleep(isQuick ? 200 : 3_000);
  };
  // Each Island has one slot, and ends its job only on a call.
  await scripted.call("script", { tokens: 1, gapMs: 0, isHeld: true });
  await scripted.call("connect", { url: server.url, seats: makeSeats(server, islands), slots: 1 });
  const warmUp = isQuick ? 20 : 500;
  await submit(islands + warmUp);
  await scripted.call("endHeld", { count: warmUp });
  let ended = warmUp;
  let left = 0;
  const metrics: Record<string, number> = {};
  for (const level of waiting) {
    const rounds = isQuick ? 20 : Math.min(Math.max(level, MIN_ROUNDS), MAX_ROUNDS);
    await submit(level + rounds - left);
    const before = cpuSeconds(server.pid);
    const tookMs = await scripted.call("endHeld", { count: rounds });
    metrics[`cpu µs ${level}`] = ((cpuSeconds(server.pid) - before) * 1e6) / rounds;
    metrics[`p50 ms ${level}`] = p50AndP99(tookMs).p50;
    metrics[`resident MB ${level}`] = residentMb(server.pid);
    ended += rounds;
    left = level;
  }
  const { assigned } = await scripted.call("counts", undefined);
  if (assigned !== islands + ended) throw new Error(`${assigned} jobs were assigned, expected ${islands + ended}`);
  return metrics;
}

function plot(samples: Samples, { waiting }: World): LinePlot {
  const panel = (label: string, metric: string): Panel => ({
    label,
    lines: [lineOf(samples, "atoll", "coordinator", metric, waiting)],
  });
  return {
    name: "waiting",
    title: "Dispatch with waiting jobs, 10 Islands",
    x: { label: "waiting jobs", values: waiting },
    panels: [
      panel("Job end → next assign, p50, ms", "p50 ms"),
      panel("CPU per job end and next dispatch, µs", "cpu µs"),
      panel("Resident memory, MB", "resident MB"),
    ],
  };
}
