import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { scriptedText } from "../load/frames.ts";
import type { TrivialServerApi } from "../load/trivial-server.ts";
import type { BenchOptions } from "./bench.ts";
import { formatNumber } from "./format-number.ts";
import { startClients, startIslandsProcess, underLoad } from "./loads.ts";
import { Worker } from "./worker.ts";

const CLIENTS = 32;
const ISLANDS = 16;
/** Frames that a run sends in addition to its tokens: `accepted`, `started` and `finished`. */
const FRAMES_WITHOUT_TOKENS = 3;

/**
 * Measures the load generators against servers that do nothing. Returns a sentence with the maximum rates. A figure
 * near these rates is limited by the load generators.
 */
export async function measureCeiling({ isQuick, log }: BenchOptions, tokens: number): Promise<string> {
  const ms = isQuick ? 500 : 4_000;
  const [chats, runs] = [await clientCeiling(tokens, ms), await islandCeiling(tokens, ms)];
  const sentence = `Maximum rates of the load generators, against servers that do nothing: ${formatNumber(chats)} chats/s for the clients, ${formatNumber(runs)} runs/s for the scripted Islands.`;
  log(sentence);
  return sentence;
}

const startTrivialServer = (): Promise<Worker<TrivialServerApi>> =>
  Worker.start(join(import.meta.dirname, "..", "load", "trivial-server.ts"));

async function clientCeiling(tokens: number, ms: number): Promise<number> {
  await using server = await startTrivialServer();
  await using clients = await startClients();
  const load = {
    url: await server.call("serveChats", { tokens }),
    key: "none",
    method: "POST",
    path: "/chat/completions",
    body: {},
    clients: CLIENTS,
    expect: { status: 200, streamedText: scriptedText(tokens) },
  } as const;
  const { answered, seconds } = await underLoad(clients, load, ms / 4, () => clients.call("measure", { ms }));
  return answered / seconds;
}

async function islandCeiling(tokens: number, ms: number): Promise<number> {
  await using server = await startTrivialServer();
  await using islands = await startIslandsProcess();
  await islands.call("script", { tokens, gapMs: 0 });
  const seats = Array.from({ length: ISLANDS }, () => ({ token: "none", hostId: randomUUID() }));
  const url = await server.call("serveIslands", { parallel: 2, frames: tokens + FRAMES_WITHOUT_TOKENS });
  await islands.call("connect", { url, seats, slots: 2 });
  await systemClock.sleep(ms / 4);
  const { assigned } = await islands.call("counts", undefined);
  const beganMs = systemClock.monotonicMs();
  await systemClock.sleep(ms);
  const after = await islands.call("counts", undefined);
  return ((after.assigned - assigned) * 1_000) / (systemClock.monotonicMs() - beganMs);
}
