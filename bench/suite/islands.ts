import { systemClock } from "../../shared/clock.ts";
import { alternate, figureOf, lineOf, type Metrics, type Samples, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult, Figure } from "../harness/bench.ts";
import type { LinePlot, Panel } from "../harness/line-plot.ts";
import { chatLoad, makeSeats, measureWindow, startClients, startIslandsProcess, underLoad } from "../harness/loads.ts";
import { cpuSeconds, residentMb } from "../harness/process-facts.ts";
import { startServer, type Server, type ServerKind } from "../harness/servers.ts";
import type { ClientLoad } from "../load/http-clients.ts";

const TOKENS = 16;
/** Warm-up. The level with few Islands is measured first and would otherwise run code that is not compiled yet. */
const WARM_UP_CHATS = 500;
const MAX_RESIDENT_MB = 250;
const MAX_IDLE_PERCENT = 2;
const MAX_API_RATIO = 1.2;

/** Measures the cost of idle connected Islands. */
export const islands: Bench = {
  name: "islands",
  title: "Idle Islands",
  async run(options): Promise<BenchResult> {
    const levels = options.isQuick ? [1, 20] : [1, 100, 1_000, 10_000];
    const samples = await alternate(
      options.runs,
      { atoll: () => measure("atoll", levels, options), bare: () => measure("bare", levels, options) },
      options.log,
    );
    return { figures: figures(samples, levels), plots: [plot(samples, levels)] };
  },
};

async function measure(kind: ServerKind, levels: readonly number[], options: BenchOptions): Promise<Metrics> {
  const settleMs = options.isQuick ? 200 : 2_000;
  await using server = await startServer(kind);
  const { key } = server.account("client");
  await using scripted = await startIslandsProcess();
  await scripted.call("script", { tokens: TOKENS, gapMs: 0 });
  await systemClock.sleep(settleMs);
  const metrics: Record<string, number> = { "started MB": residentMb(server.pid) };
  let connected = 0;
  for (const level of levels) {
    const seats = makeSeats(server, level - connected, connected);
    await scripted.call("connect", { url: server.url, seats, slots: 4 });
    connected = level;
    await systemClock.sleep(settleMs);
    // The level that has a budget is measured for a minute, because the coordinator stores who is online once a minute.
    const idleMs = options.isQuick ? 500 : level === levels.at(-1) ? 60_000 : 3_000;
    const [cpuBefore, beganMs] = [cpuSeconds(server.pid), systemClock.monotonicMs()];
    await systemClock.sleep(idleMs);
    const seconds = (systemClock.monotonicMs() - beganMs) / 1_000;
    metrics[`idle % ${level}`] = ((cpuSeconds(server.pid) - cpuBefore) / seconds) * 100;
    metrics[`resident MB ${level}`] = residentMb(server.pid);
    Object.assign(metrics, await measureRequests(server, key, level, options));
  }
  await scripted.call("counts", undefined);
  return metrics;
}

/** Measures a client that reads its account, and then a client that chats. */
async function measureRequests(
  server: Server,
  key: string,
  level: number,
  { isQuick }: BenchOptions,
): Promise<Metrics> {
  const [warmUpMs, windowMs] = isQuick ? [200, 400] : [1_000, 2_000];
  await using clients = await startClients();
  const get: ClientLoad = {
    url: server.url,
    key,
    method: "GET",
    path: "/account",
    clients: 1,
    expect: { status: 200 },
  };
  const reads = await underLoad(clients, get, warmUpMs, () => measureWindow(server, clients, windowMs));
  const chats = await underLoad(
    clients,
    chatLoad(server, key, 1, TOKENS),
    warmUpMs,
    () => measureWindow(server, clients, windowMs),
    isQuick ? 0 : WARM_UP_CHATS,
  );
  return {
    [`GET p50 ms ${level}`]: reads.p50Ms,
    [`chat p50 ms ${level}`]: chats.p50Ms,
    [`cpu µs/token ${level}`]: (chats.cpuS * 1e6) / chats.tokens,
  };
}

function figures(samples: Samples, levels: readonly number[]): Figure[] {
  const against = { variant: "bare", name: "bare loop" };
  const [few, many] = [levels[0] as number, levels.at(-1) as number];
  const of = (variant: string, metric: string): readonly number[] => valuesOf(samples, variant, metric);
  const started = of("bare", "started MB");
  const sockets = ofEachRun((all, own) => all - own, of("bare", `resident MB ${many}`), started);
  const withSockets = ofEachRun((own, added) => own + added, of("atoll", "started MB"), sockets);
  const count = many.toLocaleString("en-US");
  const withFew = (metric: string) => ({ variant: "atoll", name: `${few} Island`, metric: `${metric} ${few}` });
  const apiBudget = {
    text: `≤ ${MAX_API_RATIO} × baseline (decision 0039)`,
    isMet: ({ ratio }: { ratio: number }) => ratio <= MAX_API_RATIO,
  };
  return [
    figureOf(samples, { what: "Resident memory after start", unit: "MB", metric: "started MB", against }),
    figureOf(samples, {
      what: `Resident memory, ${count} idle Islands`,
      unit: "MB",
      metric: `resident MB ${many}`,
      against,
      budget: {
        text: `≤ ${MAX_RESIDENT_MB} MB`,
        isMet: ({ median }) => median <= MAX_RESIDENT_MB,
        limit: { name: "memory after start + sockets of the bare loop", values: withSockets },
      },
    }),
    figureOf(samples, {
      what: `CPU, ${count} idle Islands`,
      unit: "% of a core",
      metric: `idle % ${many}`,
      against,
      budget: {
        text: `≤ ${MAX_IDLE_PERCENT} %`,
        isMet: ({ median }) => median <= MAX_IDLE_PERCENT,
        limit: { name: "bare loop", values: of("bare", `idle % ${many}`) },
      },
    }),
    figureOf(samples, {
      what: `GET /account, p50, ${count} Islands`,
      unit: "ms",
      metric: `GET p50 ms ${many}`,
      against: withFew("GET p50 ms"),
      budget: apiBudget,
    }),
    figureOf(samples, {
      what: `Chat latency, p50, ${count} Islands`,
      unit: "ms",
      metric: `chat p50 ms ${many}`,
      against: withFew("chat p50 ms"),
      budget: apiBudget,
    }),
    figureOf(samples, {
      what: `Chat latency, p50, ${count} Islands`,
      unit: "ms",
      metric: `chat p50 ms ${many}`,
      against,
    }),
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
    name: "islands",
    title: "Idle Islands",
    x: { label: "Islands", values: levels },
    panels: [
      panel(`Latency of a chat of ${TOKENS} tokens, p50, ms`, "chat p50 ms"),
      panel("CPU per token of this chat, µs", "cpu µs/token"),
      panel("Resident memory, MB", "resident MB"),
      panel("Idle CPU, % of a core", "idle %"),
    ],
  };
}
