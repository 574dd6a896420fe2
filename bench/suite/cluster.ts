import { systemClock } from "../../shared/clock.ts";
import { alternate, figureOf, type FigureRecipe, type Metrics, type Samples } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget, Figure } from "../harness/bench.ts";
import { startCluster, whyNoCluster, type Cluster } from "../harness/cluster.ts";
import {
  BATCH_JOBS,
  batchLoad,
  chatLoad,
  jobLoad,
  joinIslands,
  makeSeats,
  startClients,
  startIslandsProcess,
} from "../harness/loads.ts";
import type { Server } from "../harness/servers.ts";
import { p50AndP99 } from "../harness/statistics.ts";
import { untilAcknowledged } from "../harness/until-acknowledged.ts";
import { machineMs } from "../load/frames.ts";

const SIZES = [1, 2, 3];
const ISLANDS = 8;
const SLOTS = 64;
const STREAMS = 16;
const STREAM = { tokens: 200, gapMs: 20 };
const MAX_JOB_RATIO = 1.5;
const MAX_TOKEN_RATIO = 2;
const MAX_ADDED_MS = 1;

/** Measures the cost of several coordinators on one machine, shared with PostgreSQL, NATS and the load. */
export const cluster: Bench = {
  name: "cluster",
  title: "One, two and three coordinators on one machine",
  async run(options): Promise<BenchResult> {
    const variants: Record<string, () => Promise<Metrics>> = { sqlite: () => measure(0, options) };
    const missing = await whyNoCluster();
    if (missing === null) for (const size of SIZES) variants[`c${size}`] = () => measure(size, options);
    const samples = await alternate(options.runs, variants, options.log);
    return { figures: figures(samples), notes: missing === null ? [] : [missing] };
  },
};

const nameOf = (size: number): string => `${size} coordinator${size === 1 ? "" : "s"}`;

function figures(samples: Samples): Figure[] {
  const sqlite = { variant: "sqlite", name: "SQLite" };
  const one = { variant: "c1", name: "1 coordinator" };
  const sizes = SIZES.filter((size) => `c${size}` in samples);
  if (sizes.length === 0)
    return [figureOf(samples, { of: "sqlite", what: "CPU per job", unit: "µs", metric: "job µs" })];
  const figure = (size: number, recipe: Omit<FigureRecipe, "of">): Figure =>
    figureOf(samples, { ...recipe, what: `${recipe.what}, ${nameOf(size)}`, of: `c${size}` });
  const within = (size: number, times: number): { budget?: Budget } =>
    size === 3 ? { budget: { text: `≤ ${times} × baseline`, isMet: ({ ratio }) => ratio <= times } } : {};
  return sizes.flatMap((size) => {
    const against = size === 1 ? sqlite : one;
    return [
      figure(size, { what: "CPU per job", unit: "µs", metric: "job µs", against, ...within(size, MAX_JOB_RATIO) }),
      figure(size, { what: "PostgreSQL CPU per job", unit: "µs", metric: "postgres µs" }),
      figure(size, { what: "NATS CPU per job", unit: "µs", metric: "nats µs" }),
      figure(size, { what: "Commits per job", unit: "", metric: "commits", against }),
      figure(size, { what: "PostgreSQL transactions per job, including reads", unit: "", metric: "transactions" }),
      figure(size, { what: "Jobs completed", unit: "/s", metric: "jobs/s", against }),
      figure(size, { what: "Submit → `assign`, p50", unit: "ms", metric: "assign p50", against }),
      figure(size, { what: "CPU per paced token", unit: "µs", metric: "token µs", against }),
      figure(size, { what: "Token latency, Island → client, p50", unit: "ms", metric: "token p50", against }),
      ...(size === 1 ? [] : acrossFigures(samples, size)),
    ];
  });
}

/** Returns the figures of clients at one coordinator whose jobs run on an Island of another. */
function acrossFigures(samples: Samples, size: number): Figure[] {
  const of = `c${size}`;
  const local = (metric: string) => ({ variant: of, name: "Island at the same coordinator", metric });
  const figure = (what: string, unit: string, metric: string, base: string, budget?: Budget): Figure => {
    const more = budget === undefined ? {} : { budget };
    return figureOf(samples, {
      what: `${what}, ${nameOf(size)}`,
      unit,
      metric,
      of,
      against: local(base),
      ...more,
    });
  };
  return [
    figure("Submit → `assign` at another coordinator (stolen), p50", "ms", "steal p50", "assign p50"),
    figure("Submit → `assign` at another coordinator (stolen), p99", "ms", "steal p99", "assign p99"),
    figure("CPU per paced token relayed between coordinators", "µs", "across token µs", "token µs", {
      text: `≤ ${MAX_TOKEN_RATIO} × baseline`,
      isMet: ({ ratio }) => ratio <= MAX_TOKEN_RATIO,
    }),
    figure("Token latency, Island → client at another coordinator, p50", "ms", "across token p50", "token p50", {
      text: `≤ ${MAX_ADDED_MS} ms above baseline`,
      isMet: ({ median, baseline }) => median - baseline <= MAX_ADDED_MS,
    }),
  ];
}

/** Measures a cluster. @param size number of coordinators on PostgreSQL and NATS; 0 for one coordinator on SQLite. */
async function measure(size: number, options: BenchOptions): Promise<Metrics> {
  await using cluster = await startCluster(size);
  const { coordinators } = cluster;
  const [first, second] = [coordinators[0] as Server, coordinators[1]];
  const metrics: Record<string, number> = { ...(await measureJobs(cluster, options)) };
  const assign = await measureAssign(first, first, options);
  Object.assign(metrics, { "assign p50": assign.p50, "assign p99": assign.p99 });
  Object.assign(metrics, await measureTokens(cluster, first, first, "token", options));
  if (second === undefined) return metrics;
  const steal = await measureAssign(first, second, options);
  Object.assign(metrics, { "steal p50": steal.p50, "steal p99": steal.p99 });
  return { ...metrics, ...(await measureTokens(cluster, first, second, "across token", options)) };
}

/** Submits all jobs, the same number to each coordinator, and then runs them. */
async function measureJobs(cluster: Cluster, { isQuick }: BenchOptions): Promise<Metrics> {
  const { coordinators } = cluster;
  const batches = isQuick ? 2 : 60;
  const { key } = cluster.account("jobs");
  await using clients = await startClients();
  await using islands = await startIslandsProcess();
  await islands.call("script", { tokens: 1, gapMs: 0 });
  const before = await cluster.readCosts();
  for (const server of coordinators) {
    await clients.call("submit", { load: batchLoad(server, key, 8), count: batches });
  }
  const beganMs = machineMs();
  for (const server of coordinators) {
    await islands.call("connect", { url: server.url, seats: makeSeats(cluster, ISLANDS), slots: SLOTS });
  }
  const count = batches * BATCH_JOBS * coordinators.length;
  await untilAcknowledged(islands, count);
  const seconds = (machineMs() - beganMs) / 1_000;
  const after = await cluster.readCosts();
  const perJob = (name: keyof typeof after): number => (after[name] - before[name]) / count;
  return {
    "job µs": perJob("coordinatorsS") * 1e6,
    "postgres µs": perJob("postgresS") * 1e6,
    "nats µs": perJob("natsS") * 1e6,
    commits: perJob("commits"),
    transactions: perJob("transactions"),
    "jobs/s": count / seconds,
  };
}

/** Measures one job at a time, submitted to one coordinator, with idle Islands at the same or another coordinator. */
async function measureAssign(
  clientServer: Server,
  islandServer: Server,
  { isQuick }: BenchOptions,
): Promise<{ p50: number; p99: number }> {
  await using islands = await joinIslands(islandServer, { count: 4, slots: 4, script: { tokens: 1, gapMs: 0 } });
  await using clients = await startClients();
  const load = { ...jobLoad(clientServer, clientServer.account("assign").key, 1), pauseMs: 5 };
  const count = isQuick ? 20 : 300;
  await clients.call("submit", { load, count });
  await untilAcknowledged(islands, count);
  await islands.call("takeAssigned", undefined);
  const { jobs } = await clients.call("submit", { load, count });
  await untilAcknowledged(islands, 2 * count);
  const assigned = new Map((await islands.call("takeAssigned", undefined)).map(({ jobId, atMs }) => [jobId, atMs]));
  const toAssign = jobs.map(({ id, sentMs }) => (assigned.get(id) ?? Number.NaN) - sentMs);
  if (toAssign.some(Number.isNaN)) throw new Error("A job received a response but was not assigned");
  return p50AndP99(toAssign);
}

/**
 * Measures streams at one coordinator, from Islands at the same or another coordinator: first many streams for their
 * CPU, then one stream for its delay.
 */
async function measureTokens(
  cluster: Cluster,
  clientServer: Server,
  islandServer: Server,
  name: string,
  { isQuick }: BenchOptions,
): Promise<Metrics> {
  const script = isQuick ? { tokens: 8, gapMs: 20 } : STREAM;
  await using islands = await joinIslands(islandServer, {
    count: STREAMS,
    slots: 1,
    script: { ...script, isTimed: true },
  });
  await using clients = await startClients();
  const { key } = clientServer.account("tokens");
  await clients.call("start", chatLoad(clientServer, key, isQuick ? 2 : STREAMS, script.tokens));
  await clients.call("measure", { ms: isQuick ? 300 : 3_000 });
  const before = await cluster.readCosts();
  const { tokens } = await clients.call("measure", { ms: isQuick ? 500 : 6_000 });
  const after = await cluster.readCosts();
  await clients.call("stop", undefined);
  await islands.call("takeSent", undefined);
  await clients.call("start", { ...chatLoad(clientServer, key, 1, script.tokens), isTimed: true });
  await systemClock.sleep(isQuick ? 300 : 6_000);
  await clients.call("stop", undefined);
  const sentMs = await islands.call("takeSent", undefined);
  const receivedMs = await clients.call("takeReceived", undefined);
  if (sentMs.length !== receivedMs.length) throw new Error(`${receivedMs.length} of ${sentMs.length} tokens arrived`);
  const { p50, p99 } = p50AndP99(receivedMs.map((atMs, index) => atMs - (sentMs[index] as number)));
  const cpuS = after.coordinatorsS - before.coordinatorsS;
  return { [`${name} µs`]: (cpuS * 1e6) / tokens, [`${name} p50`]: p50, [`${name} p99`]: p99 };
}
