import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { INSPECTED, Inspector } from "../../test/support/inspector.ts";
import { HEARTBEAT_MS } from "../load/frames.ts";
import { flameOf, type CpuProfile, type Flame } from "./cpu-profile.ts";
import { chatLoad, joinIslands, startClients, underLoad, WARM_UP_CHATS } from "./loads.ts";
import { mainThreadSeconds } from "./process-facts.ts";
import { startAtoll } from "./servers.ts";

/** Tokens of a profiled chat. */
export const PROFILED_TOKENS = 16;
export const PROFILED_LOADS = {
  streams: { clients: 64, gapMs: 20, what: "64 streams, 16 tokens 20 ms apart" },
  bursts: { clients: 32, gapMs: 0, what: "32 clients, chats of 16 tokens at once" },
} as const;
export type ProfiledLoad = (typeof PROFILED_LOADS)[keyof typeof PROFILED_LOADS];
export const profiledIslands = (isQuick: boolean): number => (isQuick ? 20 : 10_000);
/** This checkout. */
export const ROOT = join(import.meta.dirname, "..", "..");
const SAMPLING_US = 250;

export interface MainThreadProfile {
  readonly flame: Flame;
  /** CPU time of the main thread for each unit of work without the profiler, in µs. */
  readonly usEach: number;
}

/**
 * Profiles the main thread of a coordinator under a load. The unit of work is a chat.
 * @param root Checkout whose coordinator was chosen by `measureProgram`.
 */
export async function profileChats(
  { clients: count, gapMs }: ProfiledLoad,
  { isQuick, root = ROOT }: { readonly isQuick: boolean; readonly root?: string },
): Promise<MainThreadProfile> {
  const [warmUpMs, windowMs] = isQuick ? [300, 700] : [4_000, 8_000];
  await using server = await startAtoll([], INSPECTED);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, {
    count: 16,
    slots: 64,
    script: { tokens: PROFILED_TOKENS, gapMs },
  });
  await using clients = await startClients();
  const profiled = await underLoad(
    clients,
    chatLoad(server, key, count, PROFILED_TOKENS),
    warmUpMs,
    () => profileWhile(server, root, async () => (await clients.call("measure", { ms: windowMs })).answered),
    isQuick ? 0 : WARM_UP_CHATS,
  );
  await islands.call("counts", undefined);
  return profiled;
}

/** Profiles the main thread while Islands have no jobs. The unit of work is a heartbeat of an Island, with its ping. */
export async function profileIdle({ isQuick }: { readonly isQuick: boolean }): Promise<MainThreadProfile> {
  const count = profiledIslands(isQuick);
  const windowMs = isQuick ? 700 : 2 * HEARTBEAT_MS;
  await using server = await startAtoll([], INSPECTED);
  await using islands = await joinIslands(server, { count, slots: 4, script: { tokens: 1, gapMs: 0 } });
  // New code is compiled and the rows of the Islands are stored before the measurement.
  await systemClock.sleep(windowMs);
  const profiled = await profileWhile(server, ROOT, async () => {
    await systemClock.sleep(windowMs);
    return (count * windowMs) / HEARTBEAT_MS;
  });
  await islands.call("counts", undefined);
  return profiled;
}

/**
 * Measures the work, and profiles it again: a sample takes about 5 µs, which is much compared with the work of idle Islands.
 * @param work Resolves with the number of units of work that were done.
 */
async function profileWhile(
  server: Awaited<ReturnType<typeof startAtoll>>,
  root: string,
  work: () => Promise<number>,
): Promise<MainThreadProfile> {
  const { runS } = mainThreadSeconds(server.pid);
  const units = await work();
  const usEach = ((mainThreadSeconds(server.pid).runS - runS) * 1e6) / units;
  await using inspector = await Inspector.open(server.network.coordinator);
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLING_US });
  await inspector.call("Profiler.start");
  await work();
  const { profile } = await inspector.call<{ profile: CpuProfile }>("Profiler.stop");
  return { flame: flameOf(profile, root), usEach };
}
