import { findQueues, openQueue, type QueueName } from "../baselines/queue-servers.ts";
import { alternate, figureOf, type Metrics, type Samples, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget } from "../harness/bench.ts";
import { measureIdleSteps } from "../harness/idle-steps.ts";
import { jobLoad, joinIslands, startClients, WARM_UP_CHATS } from "../harness/loads.ts";
import { startServer, type ServerKind } from "../harness/servers.ts";
import { p50AndP99 } from "../harness/statistics.ts";
import { untilAcknowledged } from "../harness/until-acknowledged.ts";
import type { ClientLoad } from "../load/http-clients.ts";

const BUDGET_MS = 0.6;
/** Budget of decision 0039, which a faster machine than the test machine meets. */
const FAST_MACHINE_BUDGET_MS = 0.5;

/** Measures one job at a time in an idle network. */
export const latency: Bench = {
  name: "latency",
  title: "Job submission in an idle network",
  async run(options): Promise<BenchResult> {
    const variants: Record<string, () => Promise<Metrics>> = {
      atoll: () => measure("atoll", options),
      bare: () => measure("bare", options),
      steps: () => measureIdleSteps(options),
    };
    const { names, notes } = await findQueues();
    for (const name of names) variants[name] = () => measureQueue(name, options);
    const samples = await alternate(options.runs, variants, options.log);
    return { figures: figures(samples), notes };
  },
};

function figures(samples: Samples) {
  const bare = { variant: "bare", name: "bare loop" };
  const of = (variant: string) => (variant in samples ? [variant] : []);
  const possible = valuesOf(samples, "bare", "assign p50");
  const toStart = { what: "Submit → `assign`, p50", unit: "ms", metric: "assign p50" };
  return [
    figureOf(samples, { what: "Submit → 201 (durable), p50", unit: "ms", metric: "201 p50", against: bare }),
    figureOf(samples, { ...toStart, against: bare, budget: within(BUDGET_MS, "", possible) }),
    figureOf(samples, { ...toStart, what: "Submit → `assign`, p99", metric: "assign p99", against: bare }),
    figureOf(samples, {
      ...toStart,
      what: "Submit → `assign`, p50, without a pause between the jobs",
      metric: "busy assign p50",
      against: { ...bare, metric: "busy assign p50" },
    }),
    ...of("bullmq").map((variant) =>
      figureOf(samples, { ...toStart, against: { variant, name: "BullMQ add → start", metric: "start p50" } }),
    ),
    ...of("graphile-worker").map((variant) =>
      figureOf(samples, { ...toStart, against: { variant, name: "graphile-worker add → start", metric: "start p50" } }),
    ),
    figureOf(samples, {
      ...toStart,
      against: { variant: "steps", name: "fdatasync", metric: "fdatasync p50" },
      budget: within(FAST_MACHINE_BUDGET_MS, " (decision 0039)", possible),
    }),
    figureOf(samples, { what: "Append and fsync, p50", unit: "ms", of: "steps", metric: "fsync p50" }),
    figureOf(samples, {
      what: "Message to a thread and back, p50",
      unit: "ms",
      of: "steps",
      metric: "thread p50",
    }),
  ];
}

/** Returns a budget. `possible` is the limit in each run. */
const within = (ms: number, source: string, possible: readonly number[]): Budget => ({
  text: `≤ ${ms} ms${source}`,
  isMet: ({ median }) => median <= ms,
  limit: { name: "bare loop", values: possible },
});

const rounds = ({ isQuick }: BenchOptions): number => (isQuick ? 20 : 500);

async function measure(kind: ServerKind, options: BenchOptions): Promise<Metrics> {
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, { count: 4, slots: 4, script: { tokens: 1, gapMs: 0 } });
  await using clients = await startClients();
  const busyLoad = jobLoad(server, key, 1);
  // Pause between two jobs, so that each starts in an idle network.
  const load = { ...busyLoad, pauseMs: 5 };
  let submitted = 0;
  const submit = async (of: ClientLoad, count: number) => {
    const { jobs } = await clients.call("submit", { load: of, count });
    submitted += count;
    // A response may come before the Island has read its `assign`.
    await untilAcknowledged(islands, submitted);
    return jobs;
  };
  const timesOf = async (of: ClientLoad) => {
    await submit(of, rounds(options));
    await islands.call("takeAssigned", undefined);
    const jobs = await submit(of, rounds(options));
    const assigned = new Map((await islands.call("takeAssigned", undefined)).map(({ jobId, atMs }) => [jobId, atMs]));
    const toAssign = jobs.map(({ id, sentMs }) => (assigned.get(id) ?? Number.NaN) - sentMs);
    if (toAssign.some(Number.isNaN)) throw new Error("A job received a response but was not assigned");
    return {
      accepted: p50AndP99(jobs.map(({ sentMs, answeredMs }) => answeredMs - sentMs)),
      assign: p50AndP99(toAssign),
    };
  };
  await submit(busyLoad, options.isQuick ? 20 : WARM_UP_CHATS);
  const { accepted, assign } = await timesOf(load);
  const busy = await timesOf(busyLoad);
  return {
    "201 p50": accepted.p50,
    "201 p99": accepted.p99,
    "assign p50": assign.p50,
    "assign p99": assign.p99,
    "busy assign p50": busy.assign.p50,
  };
}

async function measureQueue(name: QueueName, options: BenchOptions): Promise<Metrics> {
  await using queue = await openQueue(name);
  await queue.worker.call("idleStarts", { count: rounds(options) });
  const { p50, p99 } = p50AndP99(await queue.worker.call("idleStarts", { count: rounds(options) }));
  return { "start p50": p50, "start p99": p99 };
}
