import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHANNEL_FD } from "../../../island-agent/runtimes/host/host-channel.ts";
import { hostedRuntime } from "../../../island-agent/runtimes/host/hosted-runtime.ts";
import type { CargoRuntime, ProbeResult } from "../../../island-agent/runtimes/runtime.ts";
import { FIRST_RETRY_MS, RuntimeProbes } from "../../../island-agent/runtimes/runtime-probes.ts";
import type { RuntimeType } from "../../../shared/cargo.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { settle } from "../../support/event-log.ts";
import { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { FakeLog } from "../builders.ts";

const MAX_RETRY_MS = 600_000;

let clock: ManualClock;
let log: FakeLog;
let found: RuntimeType[];
let folder: string;

beforeEach(async () => {
  clock = new ManualClock();
  log = new FakeLog();
  found = [];
  folder = await mkdtemp(join(tmpdir(), "atoll-probes-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  expect(clock.pendingTimers, "timers left").toBe(0);
});

function makeProbes(...candidates: CargoRuntime[]): RuntimeProbes {
  const prepare = (): Promise<void> => Promise.resolve();
  // With this maximum of `random`, each wait is the whole step.
  const probes = new RuntimeProbes({ candidates, clock, log, prepare, random: () => 1 });
  probes.onFound = (type) => found.push(type);
  return probes;
}

/** A runtime whose probes return these results in order. The last result repeats. */
function scripted(...results: ProbeResult[]): CargoRuntime & { probed: number } {
  const runtime = Object.assign(new FakeRuntime(), { probed: 0 });
  const probe = (): Promise<ProbeResult> =>
    Promise.resolve(results[Math.min(runtime.probed++, results.length - 1)] as ProbeResult);
  return Object.assign(runtime, { probe });
}

const CRASHED: ProbeResult = { usable: false, reason: "llama.cpp process was killed" };
const USABLE: ProbeResult = { usable: true, version: "1" };

describe("RuntimeProbes", () => {
  it("offers working runtimes immediately", async () => {
    using probes = makeProbes(scripted(USABLE));
    await probes.probeAll();
    expect([...probes.usable.keys()]).toEqual(["llmcpp"]);
    expect(probes.unusable()).toEqual([]);
    expect(found).toEqual([]);
  });

  it("logs a common reason once, and does not log runtimes for other platforms", async () => {
    const [first, second] = [scripted(CRASHED), Object.assign(scripted(CRASHED), { type: "onnx" as const })];
    const foreign: ProbeResult = { usable: false, reason: "only on macOS", isFinal: true, isForeign: true };
    using probes = makeProbes(first, second, Object.assign(scripted(foreign), { type: "coreml" as const }));
    await probes.probeAll();
    expect(log.facts).toEqual([{ type: "llmcpp, onnx", reason: "llama.cpp process was killed" }]);
    expect(probes.unusable().map(({ type }) => type)).toEqual(["llmcpp", "onnx", "coreml"]);
  });

  it("replaces a usable runtime with another of its type", async () => {
    const [working, dead] = [scripted(USABLE), Object.assign(scripted(CRASHED), { type: "onnx" as const })];
    using probes = makeProbes(working, dead);
    await probes.probeAll();
    const others = [scripted(CRASHED), Object.assign(scripted(USABLE), { type: "onnx" as const })] as const;
    for (const other of others) probes.replace(other);
    expect([...probes.usable.values()]).toEqual([{ runtime: others[0], version: "1" }]);
    clock.advance(FIRST_RETRY_MS);
    await settle();
    expect(probes.usable.get("onnx")?.runtime).toBe(others[1]);
    expect([dead.probed, others[1].probed]).toEqual([1, 1]);
  });

  it("probes a killed runtime again with growing waits, and reports when it works", async () => {
    const runtime = scripted(CRASHED, CRASHED, USABLE);
    using probes = makeProbes(runtime);
    await probes.probeAll();
    expect(probes.usable.size).toBe(0);
    expect(probes.canBecomeUsable).toBe(true);
    const retryAtMs = clock.now() + FIRST_RETRY_MS;
    expect(probes.unusable()).toEqual([{ type: "llmcpp", reason: "llama.cpp process was killed", retryAtMs }]);
    clock.advance(FIRST_RETRY_MS);
    await settle();
    expect([runtime.probed, found]).toEqual([2, []]);
    clock.advance(FIRST_RETRY_MS);
    await settle();
    expect(runtime.probed).toBe(2);
    clock.advance(FIRST_RETRY_MS);
    await settle();
    expect(probes.usable.get("llmcpp")).toMatchObject({ version: "1" });
    expect(found).toEqual(["llmcpp"]);
    expect(probes.unusable()).toEqual([]);
    // A repeated reason is logged once.
    expect(log.events.all).toEqual(["info Runtime is not usable", "info Runtime is usable now"]);
  });

  it("probes at most every ten minutes, and never again after a final result", async () => {
    const stubborn = scripted(CRASHED);
    const final = scripted({ usable: false, reason: "only on macOS", isFinal: true });
    using probes = makeProbes(stubborn, Object.assign(final, { type: "coreml" }));
    await probes.probeAll();
    for (let count = 0; count < 20; count += 1) {
      clock.advance(MAX_RETRY_MS);
      await settle();
    }
    expect(stubborn.probed).toBe(21);
    expect(final.probed).toBe(1);
    expect(probes.unusable()).toContainEqual({ type: "coreml", reason: "only on macOS", retryAtMs: null });
  });

  it("stops probing if all results are final failures", async () => {
    using probes = makeProbes(scripted({ usable: false, reason: "no package", isFinal: true }));
    await probes.probeAll();
    expect(probes.canBecomeUsable).toBe(false);
  });

  it("finds a runtime whose host process was killed during its first probe", async () => {
    const entry = join(folder, "host.mjs");
    await writeFile(
      entry,
      `import { Socket } from "node:net";
import { existsSync, writeFileSync } from "node:fs";
const seen = ${JSON.stringify(join(folder, "seen"))};
const pipe = new Socket({ fd: ${CHANNEL_FD} });
pipe.once("data", () => {
  if (existsSync(seen)) return pipe.write('{"kind":"probed","result":{"usable":true,"version":"2"}}\\n');
  writeFileSync(seen, "");
  process.kill(process.pid, "SIGKILL");
});`,
    );
    const runtime = hostedRuntime<null, null, null>(
      {
        type: "llmcpp",
        program: { name: "llama.cpp", entry: pathToFileURL(entry) },
        probeRequest: null,
        loadRequest: () => null,
        concurrency: () => 1,
        readInput: () => null,
      },
      { clock },
    );
    using probes = makeProbes(runtime);
    const probed = probes.probeAll();
    await probed;
    expect(probes.unusable()).toMatchObject([{ reason: expect.stringContaining("(SIGKILL)") }]);
    clock.advance(FIRST_RETRY_MS);
    await expect.poll(() => found).toEqual(["llmcpp"]);
    expect(probes.usable.get("llmcpp")).toMatchObject({ runtime, version: "2" });
  });
});
