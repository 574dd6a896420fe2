import { join } from "node:path";
import { INSPECTED, Inspector } from "../../test/support/inspector.ts";
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
/** This checkout. */
export const ROOT = join(import.meta.dirname, "..", "..");
const SAMPLING_US = 250;

/**
 * Profiles the main thread of a coordinator under a load.
 * @param root Checkout whose coordinator was chosen by `measureProgram`.
 * @returns the flame graph, and the CPU time of the main thread for each chat.
 */
export async function profileChats(
  { clients: count, gapMs }: ProfiledLoad,
  { isQuick, root = ROOT }: { readonly isQuick: boolean; readonly root?: string },
): Promise<{ readonly flame: Flame; readonly usPerChat: number }> {
  const [warmUpMs, windowMs] = isQuick ? [300, 700] : [4_000, 8_000];
  await using server = await startAtoll([], INSPECTED);
  const { key } = server.account("client");
  await using islands = await joinIslands(server, {
    count: 16,
    slots: 64,
    script: { tokens: PROFILED_TOKENS, gapMs },
  });
  await using clients = await startClients();
  await using inspector = await Inspector.open(server.network.coordinator);
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLING_US });
  const { profile, usPerChat } = await underLoad(
    clients,
    chatLoad(server, key, count, PROFILED_TOKENS),
    warmUpMs,
    async () => {
      await inspector.call("Profiler.start");
      const { runS } = mainThreadSeconds(server.pid);
      const { answered } = await clients.call("measure", { ms: windowMs });
      const us = ((mainThreadSeconds(server.pid).runS - runS) * 1e6) / answered;
      return { usPerChat: us, ...(await inspector.call<{ profile: CpuProfile }>("Profiler.stop")) };
    },
    isQuick ? 0 : WARM_UP_CHATS,
  );
  await islands.call("counts", undefined);
  return { flame: flameOf(profile, root), usPerChat };
}
