import { describe, expect, it } from "vitest";
import { systemClock, type Clock } from "../../../shared/clock.ts";
import type { Gpu } from "../../../shared/hardware.ts";
import type { HostProbe } from "../../../island-agent/hardware/host-probe.ts";
import { openUsageSampler } from "../../../island-agent/hardware/usage.ts";
import { core, makeProbe, sysfsFixture } from "./fake-probe.ts";

const GIB = 2 ** 30;
const MIB = 2 ** 20;

function makeGpu(vendor: string, vramBytes: number | null): Gpu {
  return { vendor, name: "GPU", vramBytes, unifiedMemory: false, driver: null };
}

/** A clock whose monotonic scale the test moves. */
function steppedClock(): Clock & { nowMs: number } {
  return {
    ...systemClock,
    nowMs: 0,
    monotonicMs(): number {
      return this.nowMs;
    },
  };
}

/** An nvidia-smi whose calls the test completes. */
function gatedNvidia(): { run: HostProbe["run"]; calls: { complete: (text: string | null) => void }[] } {
  const calls: { complete: (text: string | null) => void }[] = [];
  const run: HostProbe["run"] = (_command, _args, signal) =>
    new Promise((resolve) => {
      calls.push({ complete: resolve });
      signal?.addEventListener("abort", () => resolve(null), { once: true });
    });
  return { run, calls };
}

describe("UsageSampler.read()", () => {
  it("returns the load since the last call, and free RAM", async () => {
    const cpuTimes = [[core(0, 0)], [core(30, 70)], [core(130, 70)]];
    const probe = makeProbe({ cpus: () => cpuTimes.shift() ?? [] });
    await using usage = openUsageSampler({ clock: systemClock, hardware: { ramBytes: 16 * GIB, gpus: [] }, probe });
    expect(usage.read()).toEqual({
      cpuLoad: expect.closeTo(0.3) as number,
      freeRamBytes: 10 * GIB,
      freeVramBytes: null,
      temperatureC: null,
      gpuLoad: null,
    });
    expect(usage.read().cpuLoad).toBe(1);
  });

  it("limits free RAM to what the container and the owner allow", async () => {
    const files = sysfsFixture("cgroup-v2-docker-2g.sysfs");
    const read = async (ramBytes: number): Promise<number | null> => {
      const options = { clock: systemClock, hardware: { ramBytes, gpus: [] }, probe: makeProbe({ files }) };
      await using usage = openUsageSampler(options);
      return usage.read().freeRamBytes;
    };
    expect(await read(16 * GIB)).toBe(1.5 * GIB);
    expect(await read(GIB)).toBe(GIB);
  });

  it.each([
    ["linux", 10 * GIB],
    ["win32", 10 * GIB],
    ["darwin", null],
  ] as const)("returns the RAM that a load may take on %s: %s", async (platform, bytes) => {
    const options = { clock: systemClock, hardware: { ramBytes: 16 * GIB, gpus: [] }, probe: makeProbe({ platform }) };
    await using usage = openUsageSampler(options);
    expect(usage.loadableRamBytes()).toBe(bytes);
  });

  it("runs nvidia-smi in the background, one at a time and at most every 10 s, and returns its last values", async () => {
    const { run, calls } = gatedNvidia();
    const clock = steppedClock();
    const hardware = { ramBytes: GIB, gpus: [makeGpu("NVIDIA", 24 * GIB), makeGpu("NVIDIA", null)] };
    await using usage = openUsageSampler({ clock, hardware, probe: makeProbe({ run }) });
    expect(usage.read().freeVramBytes).toBeNull();
    clock.nowMs = 20_000;
    usage.read();
    expect(calls).toHaveLength(1);
    calls[0]?.complete("40, 12, A, 24576, 1000, 1\n62, [N/A], B, [N/A], [N/A], 1\n");
    await expect.poll(() => usage.read().freeVramBytes).toBe(1_000 * MIB);
    expect(usage.read()).toMatchObject({ temperatureC: 62, gpuLoad: 0.12 });
    expect(calls).toHaveLength(2);
    calls[1]?.complete(null);
    await expect.poll(() => usage.read().freeVramBytes).toBeNull();
    clock.nowMs = 29_999;
    usage.read();
    expect(calls).toHaveLength(2);
    clock.nowMs = 30_000;
    usage.read();
    expect(calls).toHaveLength(3);
  });

  it("limits free VRAM to what the owner allows", async () => {
    const files = sysfsFixture("amdgpu-6.8-rx7900-and-apu.sysfs");
    const hardware = { ramBytes: GIB, gpus: [makeGpu("AMD", 8 * GIB)] };
    await using usage = openUsageSampler({ clock: systemClock, hardware, probe: makeProbe({ files }) });
    expect(usage.read()).toMatchObject({ freeVramBytes: 8 * GIB, gpuLoad: 0.87 });
  });

  it("does not run tools for missing GPUs", async () => {
    const { run, calls } = gatedNvidia();
    const hardware = { ramBytes: GIB, gpus: [makeGpu("Apple", GIB)] };
    await using usage = openUsageSampler({ clock: systemClock, hardware, probe: makeProbe({ run }) });
    expect(usage.read().freeVramBytes).toBeNull();
    expect(calls).toHaveLength(0);
  });
});

describe("dispose() of UsageSampler", () => {
  it("stops a running nvidia-smi and starts no other", async () => {
    const { run, calls } = gatedNvidia();
    const hardware = { ramBytes: GIB, gpus: [makeGpu("NVIDIA", GIB)] };
    const usage = openUsageSampler({ clock: steppedClock(), hardware, probe: makeProbe({ run }) });
    await usage[Symbol.asyncDispose]();
    usage.read();
    expect(calls).toHaveLength(1);
  });
});
