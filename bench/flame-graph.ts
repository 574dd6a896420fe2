import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { samplesByGroup } from "./harness/cpu-profile.ts";
import { drawFlameGraph } from "./harness/flame-svg.ts";
import { PROFILED_LOADS, profileChats, ROOT } from "./harness/profile-main-thread.ts";
import { measureProgram } from "./harness/servers.ts";

/**
 * `npm run bench:flame -- --load bursts --out docs/performance/bursts-after.svg` draws a flame graph of the
 * coordinator's main thread. `--root` names a checkout of another version, to measure it with the loads of this
 * checkout.
 */

const { values } = parseArgs({
  options: {
    load: { type: "string", default: "bursts" },
    out: { type: "string" },
    root: { type: "string", default: ROOT },
    label: { type: "string", default: "" },
  },
});
const load = PROFILED_LOADS[values.load as keyof typeof PROFILED_LOADS];
if (load === undefined)
  throw new Error(`Unknown --load ${values.load}: must be one of ${Object.keys(PROFILED_LOADS).join(" or ")}`);
const root = resolve(values.root);
measureProgram(join(root, "bin", "coordinator.ts"));
const { flame, usEach } = await profileChats(load, { isQuick: false, root });
const title = [values.label, `${load.what}: ${usEach.toFixed(0)} µs of the main thread for each chat`]
  .filter((part) => part !== "")
  .join(": ");
console.log(title);
for (const [group, samples] of [...samplesByGroup(flame)].toSorted(([, a], [, b]) => b - a)) {
  const share = samples / flame.samples;
  console.log(`${(share * 100).toFixed(1).padStart(6)} %  ${(share * usEach).toFixed(0).padStart(6)} µs  ${group}`);
}
if (values.out !== undefined) await writeFile(values.out, drawFlameGraph(flame, title));
