import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { scriptedText } from "../load/frames.ts";
import type { ClientLoad, ClientsApi, WindowMetrics } from "../load/http-clients.ts";
import type { IslandSeat, IslandsApi, Script } from "../load/scripted-islands.ts";
import { figureOf, type Metrics, type Samples } from "./alternate.ts";
import type { Figure } from "./bench.ts";
import { cpuSeconds, idleCoreSeconds, mainThreadSeconds, workerThreadSeconds } from "./process-facts.ts";
import type { Server } from "./servers.ts";
import { Worker } from "./worker.ts";

const LOAD = join(import.meta.dirname, "..", "load");
/** Number of Islands of one account. The coordinator remembers 1,000 hosts of an account. */
const SEATS_PER_ACCOUNT = 500;
/** Up to this number each Island has a separate account: the coordinator limits the frames of an account per tick of its event loop. */
const FEW_SEATS = 100;
const JOB_INPUT = { prompt: "Go", max_tokens: 16 };

export const startClients = (): Promise<Worker<ClientsApi>> => Worker.start(join(LOAD, "http-clients.ts"));
export const startIslandsProcess = (): Promise<Worker<IslandsApi>> => Worker.start(join(LOAD, "scripted-islands.ts"));

/** Creates seats for Islands, in as many accounts as needed. */
export function makeSeats(server: Pick<Server, "account">, count: number, from = 0): IslandSeat[] {
  const seats: IslandSeat[] = [];
  const perAccount = count <= FEW_SEATS ? 1 : SEATS_PER_ACCOUNT;
  let token = "";
  for (let index = from; index < from + count; index += 1) {
    if (token === "" || index % perAccount === 0) token = server.account(`islands-${index}`).islandToken;
    seats.push({ token, hostId: randomUUID() });
  }
  return seats;
}

/** Starts a process with Islands that respond as scripted. */
export async function joinIslands(
  server: Server,
  { count, slots, script }: { count: number; slots: number; script: Script },
): Promise<Worker<IslandsApi>> {
  const islands = await startIslandsProcess();
  await islands.call("script", script);
  await islands.call("connect", { url: server.url, seats: makeSeats(server, count), slots });
  return islands;
}

/** Load of streamed chats, which must receive all tokens of a scripted Island. */
export function chatLoad(server: Pick<Server, "url">, key: string, clients: number, tokens: number): ClientLoad {
  const body = {
    model: "tiny-chat",
    messages: [{ role: "user", content: "Go" }],
    max_tokens: Math.max(tokens, 16),
    stream: true,
  };
  const expect = { status: 200, streamedText: scriptedText(tokens) };
  return { url: server.url, key, method: "POST", path: "/chat/completions", body, clients, expect };
}

/** Number of chats after which a server's code is compiled. */
export const WARM_UP_CHATS = 3_000;

/** Load of jobs, which is the same for all figures about jobs. */
export function jobLoad(server: Server, key: string, clients: number): ClientLoad {
  const body = { workload: "tiny-chat", input: JOB_INPUT };
  return { url: server.url, key, method: "POST", path: "/jobs", body, clients, expect: { status: 201 } };
}

/** Maximum number of jobs in one request of the API. */
export const BATCH_JOBS = 100;

export function batchLoad(server: Server, key: string, clients: number, jobs = BATCH_JOBS): ClientLoad {
  const body = { workload: "tiny-chat", inputs: Array.from({ length: jobs }, () => JOB_INPUT) };
  return { url: server.url, key, method: "POST", path: "/jobs/batch", body, clients, expect: { status: 201 } };
}

export interface LoadMetrics extends WindowMetrics {
  /** CPU time of the server in the window. */
  readonly cpuS: number;
  /** Part of that CPU time in the storage threads: the cost of commits outside the main thread. */
  readonly storageS: number;
  /** CPU time of the load generators. */
  readonly generatorsS: number;
  /** Time in which the server's main thread ran, and time in which it was runnable but waited for a core. */
  readonly main: { readonly runS: number; readonly waitS: number };
  /** Idle time of all cores. */
  readonly idleCoreS: number;
}

const MAX_WARM_UP_MS = 20_000;

/**
 * Runs a load and measures a window after the warm-up. The warm-up takes at least `warmUpMs` and continues until
 * `warmUpRequests` are done, because a slow machine compiles code later.
 */
export async function underLoad<T>(
  clients: Worker<ClientsApi>,
  load: ClientLoad,
  warmUpMs: number,
  window: () => Promise<T>,
  warmUpRequests = 0,
): Promise<T> {
  await clients.call("start", load);
  const latestMs = systemClock.monotonicMs() + MAX_WARM_UP_MS;
  let answered = 0;
  do {
    answered += (await clients.call("measure", { ms: warmUpMs })).answered;
  } while (answered < warmUpRequests && systemClock.monotonicMs() < latestMs);
  const result = await window();
  await clients.call("stop", undefined);
  return result;
}

/** Measures a window of a load. `islands` is the second load generator, whose CPU time is included. */
export async function measureWindow(
  server: Pick<Server, "pid">,
  clients: Worker<ClientsApi>,
  ms: number,
  islands?: { readonly pid: number },
): Promise<LoadMetrics> {
  const ofGenerators = (): number => cpuSeconds(clients.pid) + (islands === undefined ? 0 : cpuSeconds(islands.pid));
  const [cpuBefore, idleBefore, before] = [cpuSeconds(server.pid), idleCoreSeconds(), mainThreadSeconds(server.pid)];
  const [storageBefore, generatorsBefore] = [workerThreadSeconds(server.pid), ofGenerators()];
  const figures = await clients.call("measure", { ms });
  const after = mainThreadSeconds(server.pid);
  return {
    ...figures,
    cpuS: cpuSeconds(server.pid) - cpuBefore,
    storageS: workerThreadSeconds(server.pid) - storageBefore,
    generatorsS: ofGenerators() - generatorsBefore,
    main: { runS: after.runS - before.runS, waitS: after.waitS - before.waitS },
    idleCoreS: idleCoreSeconds() - idleBefore,
  };
}

/**
 * Returns metrics that show what limits a load, in percent of the window. A main thread that always runs is the limit.
 * If it waits for a core and none is idle, the limit is the machine with the load generators. If both are low, the
 * server waits for something else.
 */
export const limitsOf = ({ seconds, main, idleCoreS }: LoadMetrics, level: number): Metrics => ({
  [`main runs % ${level}`]: (main.runS / seconds) * 100,
  [`main waits % ${level}`]: (main.waitS / seconds) * 100,
  [`idle cores % ${level}`]: (idleCoreS / seconds) * 100,
});

/** Returns the three figures of {@link limitsOf} for both servers. */
export function limitFigures(samples: Samples, what: string, level: number): Figure[] {
  const against = { variant: "bare", name: "bare loop" };
  const figure = (name: string, metric: string): Figure =>
    figureOf(samples, { what: `${name}, ${what}`, unit: "%", metric: `${metric} ${level}`, against });
  return [
    figure("Main thread running", "main runs %"),
    figure("Main thread waiting for a core", "main waits %"),
    figure("Idle cores", "idle cores %"),
  ];
}
