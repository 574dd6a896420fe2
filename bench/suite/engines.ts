import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { hasLlamaServer, LlamaServer } from "../../test/support/servers/llama-server.ts";
import { alternate, figureOf, type Metrics } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { startClients, underLoad } from "../harness/loads.ts";
import { startAtoll } from "../harness/servers.ts";
import { Worker } from "../harness/worker.ts";
import { until } from "../../test/support/http/http.ts";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import type { ClientLoad } from "../load/http-clients.ts";
import type { PlainRelayApi } from "../load/plain-relay.ts";

/** Cores of llama-server: all, which it shares with the other processes, or only the first, which they leave. */
type Place = "shared" | "own";

/** Settings of tiny-chat in the catalog, for as many clients as there are. */
const SLOTS = 16;
const CLIENTS = [4, 16];
const TOKENS = 64;
const MIN_OF_ENGINE = 0.9;
const CAN_PLACE = process.platform === "linux" && availableParallelism() > 1;
const NOTE =
  "Two plain relays are two Node.js processes, one behind the other, that only copy HTTP. They show what the cores of this machine allow for two more processes on the path. In all cases llama-server reads the prompt of each chat: an Island demands that, because the server's cache of prompts would serve all accounts. On a core of its own, llama-server competes with no other process of the bench.";
/** What an Island sends too. */
const UNCACHED = { cache_prompt: false };

/** Measures chats on an engine that an Island lends, compared with the same engine called directly. */
export const engines: Bench = {
  name: "engines",
  title: "An attached llama-server",
  async run(options): Promise<BenchResult> {
    if (!hasLlamaServer()) return { figures: [], notes: ["llama-server was not measured: it is not on the PATH."] };
    const samples = await alternate(
      options.runs,
      {
        atoll: () => measureIsland(options, "shared"),
        relays: () => measureRelays(options),
        engine: () => measureEngine(options, "shared"),
        ...(CAN_PLACE
          ? {
              "atoll beside": () => measureIsland(options, "own"),
              "engine beside": () => measureEngine(options, "own"),
            }
          : {}),
      },
      options.log,
    );
    const figures = CLIENTS.flatMap((clients) => {
      const chats = { unit: "/s", metric: `chats/s ${clients}` };
      const budget = {
        text: `≥ ${MIN_OF_ENGINE} × baseline`,
        isMet: ({ ratio }: { ratio: number }) => ratio >= MIN_OF_ENGINE,
      };
      const shared = { ...chats, against: { variant: "engine", name: "llama-server" } };
      const own = { ...chats, of: "atoll beside", against: { variant: "engine beside", name: "llama-server" } };
      const what = `Chats of ${TOKENS} tokens, ${clients} clients`;
      return [
        figureOf(samples, { ...shared, what, budget }),
        figureOf(samples, { ...shared, what: `The same through two plain relays, ${clients} clients`, of: "relays" }),
        ...(CAN_PLACE ? [figureOf(samples, { ...own, what: `${what}, engine on a core of its own`, budget })] : []),
      ];
    });
    return { figures, notes: [NOTE] };
  },
};

async function measureIsland(options: BenchOptions, place: Place): Promise<Metrics> {
  await using engine = await LlamaServer.start({ slots: SLOTS });
  using _cores = place === "own" ? leaveCore(engine) : null;
  await using server = await startAtoll();
  const { key, islandToken } = server.network.createAccount("owner@example.com", 1e9, {
    requestsPerMinute: 1e9,
    concurrentJobs: 1_000,
    concurrentStreams: 1_000,
  });
  const settings = { "engines.urls": engine.url, "cargos.allow_runtimes": "engine", slots: String(SLOTS) };
  await server.network.startIsland("island", islandToken, settings);
  await until(
    () => server.network.islandStatus<AgentStatus>("island"),
    (status) => status.engines?.[0]?.state === "ready",
    "the engine",
  );
  return await metricsOf(options, server.url, "/api/v1", key);
}

async function measureRelays(options: BenchOptions): Promise<Metrics> {
  await using engine = await LlamaServer.start({ slots: SLOTS });
  await using inner = await startRelay();
  await using outer = await startRelay();
  const to = await inner.call("listen", { to: engine.url });
  return await metricsOf(options, await outer.call("listen", { to }), "/v1", "none", UNCACHED);
}

/** Leaves the first core to the engine, until the returned object is disposed of. */
function leaveCore(engine: LlamaServer): Disposable {
  setCores(engine.pid, "0");
  // Processes that start later inherit the cores of this one.
  setCores(process.pid, "1-1023");
  return { [Symbol.dispose]: () => setCores(process.pid, "0-1023") };
}

/** Sets the cores of all threads of a process. */
function setCores(pid: number | undefined, cores: string): void {
  execFileSync("taskset", ["--all-tasks", "--pid", "--cpu-list", cores, String(pid)], { stdio: "ignore" });
}

const startRelay = (): Promise<Worker<PlainRelayApi>> =>
  Worker.start(join(import.meta.dirname, "..", "load", "plain-relay.ts"));

async function measureEngine(options: BenchOptions, place: Place): Promise<Metrics> {
  await using engine = await LlamaServer.start({ slots: SLOTS });
  using _cores = place === "own" ? leaveCore(engine) : null;
  return await metricsOf(options, engine.url, "/v1", "none", UNCACHED);
}

async function metricsOf(
  { isQuick }: BenchOptions,
  url: string,
  base: string,
  key: string,
  members: object = {},
): Promise<Metrics> {
  // JavaScript takes several seconds to be compiled.
  const [warmUpMs, ms] = isQuick ? [300, 700] : [15_000, 5_000];
  const metrics: Record<string, number> = {};
  for (const clients of CLIENTS) {
    const load: ClientLoad = {
      url,
      base,
      key,
      method: "POST",
      path: "/chat/completions",
      body: {
        model: "tiny-chat",
        messages: [{ role: "user", content: "Tell me a story." }],
        temperature: 0,
        max_tokens: TOKENS,
        stream: true,
        ...members,
      },
      clients,
      expect: { status: 200 },
    };
    await using worker = await startClients();
    // The first chat reads the prompt.
    await worker.call("submit", { load, count: clients });
    const { answered, seconds } = await underLoad(worker, load, warmUpMs, () => worker.call("measure", { ms }));
    metrics[`chats/s ${clients}`] = answered / seconds;
  }
  return metrics;
}
