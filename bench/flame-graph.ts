import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { INSPECTED, Inspector } from "../test/support/inspector.ts";
import { flameOf, samplesByGroup, type CpuProfile } from "./harness/cpu-profile.ts";
import { drawFlameGraph } from "./harness/flame-svg.ts";
import { chatLoad, joinIslands, startClients, underLoad, WARM_UP_CHATS } from "./harness/loads.ts";
import { mainThreadSeconds } from "./harness/process-facts.ts";
import { measureProgram, startAtoll } from "./harness/servers.ts";

/**
 * `npm run bench:flame -- --load bursts --out docs/performance/bursts-after.svg` draws a flame graph of the
 * coordinator's main thread. `--root` names a checkout of another version, to measure it with the loads of this
 * checkout.
 */

const TOKENS = 16;
const LOADS = {
  streams: { clients: 64, gapMs: 20, what: "64 streams, 16 tokens 20 ms apart" },
  bursts: { clients: 32, gapMs: 0, what: "32 clients, chats of 16 tokens at once" },
} as const;
const [WARM_UP_MS, WINDOW_MS] = [4_000, 8_000];
const SAMPLING_US = 250;

const { values } = parseArgs({
  options: {
    load: { type: "string", default: "bursts" },
    out: { type: "string" },
    root: { type: "string", default: join(import.meta.dirname, "..") },
    label: { type: "string", default: "" },
  },
});
const load = LOADS[values.load as keyof typeof LOADS];
if (load === undefined)
  throw new Error(`Unknown --load ${values.load}: must be one of ${Object.keys(LOADS).join(" or ")}`);
const root = resolve(values.root);
measureProgram(join(root, "bin", "coordinator.ts"));

await using server = await startAtoll([], INSPECTED);
const { key } = server.account("client");
await using islands = await joinIslands(server, {
  count: 16,
  slots: 64,
  script: { tokens: TOKENS, gapMs: load.gapMs },
});
await using clients = await startClients();
await using inspector = await Inspector.open(server.network.coordinator);
await inspector.call("Profiler.enable");
await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLING_US });

const { profile, usPerChat } = await underLoad(
  clients,
  chatLoad(server, key, load.clients, TOKENS),
  WARM_UP_MS,
  async () => {
    await inspector.call("Profiler.start");
    const { runS } = mainThreadSeconds(server.pid);
    const { answered } = await clients.call("measure", { ms: WINDOW_MS });
    const us = ((mainThreadSeconds(server.pid).runS - runS) * 1e6) / answered;
    return { usPerChat: us, ...(await inspector.call<{ profile: CpuProfile }>("Profiler.stop")) };
  },
  WARM_UP_CHATS,
);
await islands.call("counts", undefined);

const flame = flameOf(profile, root);
const title = [values.label, `${load.what}: ${usPerChat.toFixed(0)} µs of the main thread for each chat`]
  .filter((part) => part !== "")
  .join(": ");
console.log(title);
for (const [group, samples] of [...samplesByGroup(flame)].toSorted(([, a], [, b]) => b - a)) {
  const share = samples / flame.samples;
  console.log(`${(share * 100).toFixed(1).padStart(6)} %  ${(share * usPerChat).toFixed(0).padStart(6)} µs  ${group}`);
}
if (values.out !== undefined) await writeFile(values.out, drawFlameGraph(flame, title));
