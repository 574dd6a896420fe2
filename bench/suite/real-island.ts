import { join } from "node:path";
import { hasLlamaServer, LlamaServer } from "../../test/support/servers/llama-server.ts";
import type { LlamaDirectApi } from "../baselines/llama-direct.ts";
import { alternate, figureOf, type Metrics, type Samples, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Budget, Figure } from "../harness/bench.ts";
import { measureIdleSteps } from "../harness/idle-steps.ts";
import { chatLoad, joinIslands, startClients, underLoad } from "../harness/loads.ts";
import { idleCoreSeconds } from "../harness/process-facts.ts";
import { startAtoll, startServer } from "../harness/servers.ts";
import { Worker } from "../harness/worker.ts";
import { machineMs } from "../load/frames.ts";
import type { ClientLoad, WindowMetrics } from "../load/http-clients.ts";

const MODEL = join(import.meta.dirname, "..", "..", "catalog", "models", "tiny-islander.gguf");
/** Settings of tiny-chat in the catalog. */
const SHAPE = { contextSize: 1_024, sequences: 4, threads: 1 };
const QUESTION = "Count from 3 to 9.";
const EXPECTED = "3, 4, 5, 6, 7, 8, 9.";
const CLIENTS = [1, 4, 16];
/** Pause between two prompts to an idle Island. */
const PAUSE_MS = 30;
/** Load before the measurements, in which the code of coordinator and agent is compiled. */
const COMPILE_MS = 15_000;
/** Number of tokens of a scripted completion, which is about as many as the model generates. */
const TOKENS = 16;
const MIN_OF_DIRECT = 0.95;
const MIN_OF_SERVER = 0.7;
const MAX_ADDED_MS = 1;

/** Measures a load of `clients` concurrent prompts, with an optional pause after each. */
type Measure = (load: {
  clients: number;
  warmUpMs: number;
  ms: number;
  pauseMs?: number;
}) => Promise<WindowMetrics & { readonly wrong?: number }>;

/** Measures the complete path to a real model and back, compared with calling the model directly. */
export const realIsland: Bench = {
  name: "real-island",
  title: "tiny-chat through a real Island",
  async run(options): Promise<BenchResult> {
    const hasServer = hasLlamaServer();
    const samples = await alternate(
      options.runs,
      {
        atoll: () => measureIsland(options),
        direct: () => measureDirect(options),
        bare: () => measureBare(options),
        steps: () => measureIdleSteps(options),
        ...(hasServer ? { server: () => measureServer(options) } : {}),
      },
      options.log,
    );
    const missing = "llama-server was not measured: it is not on the PATH.";
    const wrong = valuesOf(samples, "direct", "wrong").reduce((sum, count) => sum + count, 0);
    const mixed = `node-llama-cpp called directly gave ${wrong} wrong responses, which are not counted: the released version can mix up the tokens of batched sequences. All responses through the Island were correct.`;
    return { figures: figures(samples), notes: [...(hasServer ? [] : [missing]), ...(wrong > 0 ? [mixed] : [])] };
  },
};

function figures(samples: Samples): Figure[] {
  const direct = { variant: "direct", name: "node-llama-cpp" };
  const of = (variant: string, metric: string): readonly number[] => valuesOf(samples, variant, metric);
  const hostMs = of("steps", "process p50");
  const commitMs = ofEachRun((thread, sync) => thread + sync, of("steps", "thread p50"), of("steps", "fdatasync p50"));
  /**
   * Returns the limit of sequential chats: the model, the connections, the process of the model, and the commit of the
   * end. The submission is committed at the same time.
   */
  const possible = ofEachRun(
    (rate, chat, host, commit) => 1_000 / (1_000 / rate + chat + host + commit),
    ...[of("direct", "chats/s 1"), of("bare", "chat ms"), hostMs, commitMs],
  );
  const added = ofEachRun((first, host, commit) => first + host + commit, of("bare", "first ms"), hostMs, commitMs);
  const name = "bare loop with a scripted Island + process and thread round trips + fdatasync";
  const atLeast = (share: number, clients: number): Budget => ({
    text: `≥ ${share} × baseline`,
    isMet: ({ ratio }) => ratio >= share,
    ...(clients === 1 ? { limit: { name: `node-llama-cpp + ${name}`, values: possible } } : {}),
  });
  const all = CLIENTS.flatMap((clients) => {
    const name = `${clients} client${clients === 1 ? "" : "s"}`;
    const rate = { what: `Chats, ${name}`, unit: "/s", metric: `chats/s ${clients}` };
    const hasBudget = clients === CLIENTS[0] || clients === CLIENTS.at(-1);
    const server = { variant: "server", name: "llama-server" };
    return [
      figureOf(samples, {
        ...rate,
        against: direct,
        ...(hasBudget ? { budget: atLeast(MIN_OF_DIRECT, clients) } : {}),
      }),
      ...("server" in samples
        ? [
            figureOf(samples, {
              ...rate,
              against: server,
              ...(hasBudget ? { budget: atLeast(MIN_OF_SERVER, clients) } : {}),
            }),
          ]
        : []),
    ];
  });
  return [
    ...all,
    figureOf(samples, {
      what: "Chats, 4 clients",
      unit: "/s",
      metric: "chats/s 4",
      against: { variant: "atoll", name: "1 client", metric: "chats/s 1" },
      budget: { text: "≥ 2 × baseline (decision 0039)", isMet: ({ ratio }) => ratio >= 2 },
    }),
    ...CLIENTS.map((clients) =>
      figureOf(samples, {
        what: `Idle cores, ${clients} client${clients === 1 ? "" : "s"}`,
        unit: "%",
        metric: `idle cores % ${clients}`,
        against: direct,
      }),
    ),
    figureOf(samples, {
      what: "Time to first token, idle Island, p50",
      unit: "ms",
      metric: "first ms",
      against: direct,
    }),
    {
      what: "Added time to first token, idle Island, p50",
      unit: "ms",
      values: ofEachRun((island, direct) => island - direct, of("atoll", "first ms"), of("direct", "first ms")),
      budget: {
        text: `≤ ${MAX_ADDED_MS} ms`,
        isMet: ({ median }) => median <= MAX_ADDED_MS,
        limit: { name, values: added },
      },
    },
  ];
}

async function metricsOf({ isQuick }: BenchOptions, measure: Measure): Promise<Metrics> {
  const [warmUpMs, ms] = isQuick ? [300, 700] : [1_500, 4_000];
  const metrics: Record<string, number> = {};
  // JavaScript of two processes takes several seconds to be compiled.
  await measure({ clients: Math.max(...CLIENTS), warmUpMs: isQuick ? 300 : COMPILE_MS, ms });
  let wrong = 0;
  for (const clients of CLIENTS) {
    const [idleBefore, beganMs] = [idleCoreSeconds(), machineMs()];
    const { answered, seconds, wrong: more = 0 } = await measure({ clients, warmUpMs, ms });
    // The measurement includes the warm-up, which is as busy as the load.
    metrics[`idle cores % ${clients}`] = ((idleCoreSeconds() - idleBefore) * 1e5) / (machineMs() - beganMs);
    wrong += more;
    metrics[`chats/s ${clients}`] = answered / seconds;
  }
  const idle = await measure({ clients: 1, warmUpMs, ms, pauseMs: PAUSE_MS });
  return { ...metrics, wrong, "first ms": idle.firstTokenP50Ms, "first p99 ms": idle.firstTokenP99Ms };
}

async function measureIsland(options: BenchOptions): Promise<Metrics> {
  await using server = await startAtoll();
  const { key, islandToken } = server.network.createAccount("owner@example.com", 1e9, {
    requestsPerMinute: 1e9,
    concurrentJobs: 1_000,
    concurrentStreams: 1_000,
  });
  await server.network.startIsland("island", islandToken, { threads: String(SHAPE.threads) });
  return await metricsOf(options, measureHttp(server.url, "/api/v1", key));
}

/** Measures the idle path from a client to an Island and back through the bare loop. */
async function measureBare({ isQuick }: BenchOptions): Promise<Metrics> {
  await using server = await startServer("bare");
  const { key } = server.account("client");
  await using islands = await joinIslands(server, { count: 1, slots: 4, script: { tokens: TOKENS, gapMs: 0 } });
  await using clients = await startClients();
  const load = { ...chatLoad(server, key, 1, TOKENS), pauseMs: PAUSE_MS };
  const [warmUpMs, ms] = isQuick ? [300, 700] : [1_500, 4_000];
  const { p50Ms, firstTokenP50Ms } = await underLoad(clients, load, warmUpMs, () => clients.call("measure", { ms }));
  await islands.call("counts", undefined);
  return { "chat ms": p50Ms, "first ms": firstTokenP50Ms };
}

async function measureServer(options: BenchOptions): Promise<Metrics> {
  await using server = await LlamaServer.start({ slots: SHAPE.sequences });
  return await metricsOf(options, measureHttp(server.url, "/v1", "none"));
}

const measureHttp =
  (url: string, base: string, key: string): Measure =>
  async ({ clients, warmUpMs, ms, pauseMs }) => {
    const messages = [{ role: "user", content: QUESTION }];
    const load: ClientLoad = {
      url,
      base,
      key,
      method: "POST",
      path: "/chat/completions",
      body: { model: "tiny-chat", messages, temperature: 0, stream: true },
      clients,
      expect: { status: 200, streamedText: EXPECTED },
      ...(pauseMs === undefined ? {} : { pauseMs }),
    };
    await using worker = await startClients();
    // The first chat loads the model.
    await worker.call("submit", { load, count: clients });
    return await underLoad(worker, load, warmUpMs, () => worker.call("measure", { ms }));
  };

async function measureDirect(options: BenchOptions): Promise<Metrics> {
  const file = join(import.meta.dirname, "..", "baselines", "llama-direct.ts");
  await using worker = await Worker.start<LlamaDirectApi>(file);
  await worker.call("load", { modelPath: MODEL, ...SHAPE });
  return await metricsOf(options, (load) => worker.call("run", { ...load, question: QUESTION, expected: EXPECTED }));
}
