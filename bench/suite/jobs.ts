import { findQueues, openQueue, type QueueName } from "../baselines/queue-servers.ts";
import { alternate, figureOf, type Metrics, type Samples, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget, Figure } from "../harness/bench.ts";
import { measureCommits } from "../harness/measure-commits.ts";
import { BATCH_JOBS, batchLoad, jobLoad, makeSeats, startClients, startIslandsProcess } from "../harness/loads.ts";
import { mainThreadSeconds, workerThreadSeconds } from "../harness/process-facts.ts";
import { startAtoll, type Server } from "../harness/servers.ts";
import { untilAcknowledged } from "../harness/until-acknowledged.ts";
import { machineMs } from "../load/frames.ts";
import { HttpConnection, requestBytes } from "../load/http-connection.ts";

const MIN_JOBS_PER_S = 10_000;
/** Source: decision 0039. */
const BUDGET_JOBS_PER_S = 5_000;
const CONNECTIONS = 32;
const ISLANDS = 16;
const SLOTS = 64;
const SAMPLED = 50;
/** Divisor for the number of jobs that are added one by one, which still takes seconds. */
const SINGLE_SHARE = 5;
/** Share of the jobs for each queue. A slow queue has the same rates with more jobs, but takes minutes. */
const SHARES: Record<QueueName, number> = { bullmq: 1, "graphile-worker": 0.1 };

/** Measures many jobs: all are submitted and stored before the first one runs, then all run to their durable end. */
export const jobs: Bench = {
  name: "jobs",
  title: "100,000 jobs, submitted over HTTP and completed, durable",
  async run(options): Promise<BenchResult> {
    const variants: Record<string, () => Promise<Metrics>> = {
      atoll: () => measure(options),
      commits: () => measureCommits(options),
    };
    const { names, notes } = await findQueues();
    for (const name of names) variants[name] = () => measureQueue(name, options);
    const samples = await alternate(options.runs, variants, options.log);
    const perJob = (what: string, metric: string): Figure => figureOf(samples, { what, unit: "µs", metric });
    return {
      figures: [
        ...figures(samples, "bullmq"),
        ...figures(samples, "graphile-worker"),
        perJob("Main thread per completed job", "main µs"),
        perJob("Storage threads per completed job", "storage µs"),
      ],
      notes,
    };
  },
};

const NAMES: Record<QueueName, string> = {
  bullmq: "BullMQ, appendfsync always",
  "graphile-worker": "graphile-worker",
};

/**
 * Returns the figures in comparison with one queue. Budgets are relative to BullMQ. Its `add`, with 32 calls at a time,
 * corresponds to submissions over the API.
 */
function figures(samples: Samples, variant: QueueName): Figure[] {
  const isMeasured = variant in samples;
  if (!isMeasured && variant !== "bullmq") return [];
  const figure = (what: string, metric: string, of: string, more: { call?: string; budget?: Budget } = {}): Figure => {
    const { call = "", budget } = more;
    const against = isMeasured ? { against: { variant, name: NAMES[variant] + call, metric: of } } : {};
    return figureOf(samples, { what, unit: "/s", metric, ...against, ...(budget === undefined ? {} : { budget }) });
  };
  const isBullMq = variant === "bullmq";
  const commits = valuesOf(samples, "commits", "jobs/s");
  const submitted = valuesOf(samples, "atoll", "batched");
  const limitOf = (name: string, values: readonly number[]) => ({ limit: { name, values } });
  const atLeast = (limit: Pick<Budget, "limit"> = {}): { budget?: Budget } =>
    isBullMq
      ? {
          budget: {
            text: `≥ ${MIN_JOBS_PER_S.toLocaleString("en-US")}/s and ≥ BullMQ`,
            isMet: ({ median, ratio }) => median >= MIN_JOBS_PER_S && !(ratio < 1),
            ...limit,
          },
        }
      : {};
  const design: { budget?: Budget } = isBullMq
    ? {
        budget: {
          text: `≥ ${BUDGET_JOBS_PER_S.toLocaleString("en-US")}/s and > BullMQ (decision 0039)`,
          isMet: ({ median, ratio }) => median >= BUDGET_JOBS_PER_S && !(ratio <= 1),
          ...limitOf("measured submissions, then commits only", ofEachRun(both, submitted, commits)),
        },
      }
    : {};
  return [
    figure("Jobs submitted, 100 per request", "batched", "single", { call: ", 1 per call", ...atLeast() }),
    figure("Jobs submitted, 100 per request", "batched", "batched", { call: ", 100 per call" }),
    figure("Jobs submitted, 1 per request", "single", "single", { call: ", 1 per call" }),
    figure("Jobs completed", "completed", "completed", atLeast(limitOf("commits only", commits))),
    figure("Jobs submitted (100 per request) and completed", "both", "both", { call: ", 1 per call", ...design }),
  ];
}

/** Returns the combined rate of both phases. */
const both = (submitted: number, completed: number): number => 1 / (1 / submitted + 1 / completed);

async function measure(options: BenchOptions): Promise<Metrics> {
  const count = options.isQuick ? 400 : 100_000;
  const singles = Math.ceil(count / SINGLE_SHARE);
  await using server = await startAtoll();
  const { key } = server.account("client");
  await using clients = await startClients();
  const batched = await clients.call("submit", {
    load: batchLoad(server, key, CONNECTIONS),
    count: count / BATCH_JOBS,
  });
  const single = await clients.call("submit", { load: jobLoad(server, key, CONNECTIONS), count: singles });
  await using islands = await startIslandsProcess();
  await islands.call("script", { tokens: 1, gapMs: 0 });
  const beganMs = machineMs();
  const { runS: mainS } = mainThreadSeconds(server.pid);
  const storageS = workerThreadSeconds(server.pid);
  await islands.call("connect", { url: server.url, seats: makeSeats(server, ISLANDS), slots: SLOTS });
  await untilAcknowledged(islands, count + singles);
  const seconds = (machineMs() - beganMs) / 1_000;
  const usPerJob = (cpuS: number): number => (cpuS * 1e6) / (count + singles);
  const cpu = {
    "main µs": usPerJob(mainThreadSeconds(server.pid).runS - mainS),
    "storage µs": usPerJob(workerThreadSeconds(server.pid) - storageS),
  };
  await assertCompleted(
    server,
    key,
    single.jobs.map(({ id }) => id),
  );
  const [perBatched, completed] = [count / batched.seconds, (count + singles) / seconds];
  return {
    ...cpu,
    batched: perBatched,
    single: singles / single.seconds,
    completed,
    both: both(perBatched, completed),
  };
}

/** Checks that some of the jobs have their output. */
async function assertCompleted(server: Server, key: string, ids: readonly string[]): Promise<void> {
  const connection = new HttpConnection(server.url);
  const step = Math.max(1, Math.floor(ids.length / SAMPLED));
  for (let index = 0; index < ids.length; index += step) {
    const path = `/jobs/${ids[index]}`;
    const { body } = await connection.request(requestBytes(server.url, { method: "GET", path, key }));
    const { data } = JSON.parse(body) as { data: { status: string; output: unknown } };
    if (data.status !== "completed" || data.output !== " w0") throw new Error(`A job is not completed: ${body}`);
  }
  connection.close();
}

async function measureQueue(name: QueueName, options: BenchOptions): Promise<Metrics> {
  const count = options.isQuick ? 400 : 100_000 * SHARES[name];
  const singles = Math.ceil(count / SINGLE_SHARE);
  const perS: Record<string, number> = {};
  {
    await using queue = await openQueue(name);
    perS["batched"] = count / (await queue.worker.call("add", { count, parallel: CONNECTIONS, perCall: BATCH_JOBS }));
    perS["completed"] = count / (await queue.worker.call("work", { count, parallel: SLOTS }));
  }
  await using queue = await openQueue(name);
  perS["single"] = singles / (await queue.worker.call("add", { count: singles, parallel: CONNECTIONS, perCall: 1 }));
  return { ...perS, both: both(perS["single"] ?? Number.NaN, perS["completed"] ?? Number.NaN) };
}
