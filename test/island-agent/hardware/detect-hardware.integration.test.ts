import { describe, expect, it } from "vitest";
import { hardwareSchema, type Gpu, type Hardware } from "../../../shared/hardware.ts";
import type { GraphicsController } from "../../../island-agent/hardware/graphics-controllers.ts";
import type { HostProbe } from "../../../island-agent/hardware/host-probe.ts";
import type { HardwareCaps, HardwareOverrides } from "../../../island-agent/hardware/owner-limits.ts";
import { detectHardware } from "../../../island-agent/hardware/detect-hardware.ts";
import { memoryCapsOf } from "../../../island-agent/hardware/memory-caps.ts";
import { fixture, makeProbe, sysfsFixture } from "./fake-probe.ts";

const GIB = 2 ** 30;
const MIB = 2 ** 20;

function detect(
  probe: HostProbe = makeProbe(),
  { overrides = {}, caps = {} }: { overrides?: HardwareOverrides; caps?: HardwareCaps } = {},
): Promise<Hardware> {
  return detectHardware({ overrides, caps, probe, modelDirectory: "/data/models", diskBudgetBytes: 100 * GIB });
}

/** A probe whose nvidia-smi prints a fixture. */
function withNvidia(name: string, overrides: Parameters<typeof makeProbe>[0] = {}): HostProbe {
  const run: HostProbe["run"] = (command) => Promise.resolve(command === "nvidia-smi" ? fixture(name) : null);
  return makeProbe({ run, ...overrides });
}

const controllers =
  (name: string): HostProbe["graphics"] =>
  () =>
    Promise.resolve(JSON.parse(fixture(name)) as GraphicsController[]);

describe("detectHardware()", () => {
  it("reports a machine without GPU", async () => {
    expect(await detect()).toEqual({
      platform: "linux",
      arch: "x64",
      osName: "Debian GNU/Linux 12",
      cpuModel: "Test CPU",
      logicalCores: 4,
      physicalCores: 2,
      ramBytes: Math.floor(0.85 * 16 * GIB),
      gpus: [],
      diskFreeBytes: 500 * GIB,
      diskBudgetBytes: 100 * GIB,
    });
  });

  it("returns null for values that no tool reports", async () => {
    const nothing = (): Promise<null> => Promise.resolve(null);
    const probe = makeProbe({ cpus: () => [], osName: nothing, physicalCores: nothing, diskFreeBytes: nothing });
    const unknown = { osName: null, cpuModel: null, physicalCores: null, diskFreeBytes: null };
    expect(await detect(probe)).toMatchObject(unknown);
  });

  it("uses the container's memory limit as RAM", async () => {
    expect((await detect(makeProbe({ files: sysfsFixture("cgroup-v2-docker-2g.sysfs") }))).ramBytes).toBe(2 * GIB);
  });

  it("reports NVIDIA and AMD GPUs together, without querying other tools", async () => {
    const graphics = (): never => {
      throw new Error("not needed");
    };
    const files = sysfsFixture("amdgpu-6.8-rx7900-and-apu.sysfs");
    const { gpus } = await detect(withNvidia("nvidia-smi-550-rtx4090.csv", { files, graphics }));
    expect(gpus.map(({ name }) => name)).toEqual(["NVIDIA GeForce RTX 4090", "Radeon RX 7900 XTX", "AMD GPU 0x164e"]);
    expect(gpus[0]).not.toHaveProperty("freeVramBytes");
  });

  it("reports a GPU once if two tools list it", async () => {
    const graphics = controllers("si-5.33-windows-nvidia.json");
    const { gpus } = await detect(withNvidia("nvidia-smi-561-windows.csv", { platform: "win32", graphics }));
    expect(gpus.map(({ name, driver }) => [name, driver])).toEqual([
      ["NVIDIA GeForce RTX 3060 Laptop GPU", "561.09"],
      ["Intel(R) Iris(R) Xe Graphics", "31.0.101.4502"],
    ]);
  });

  it("returns a valid protocol value for any output of a tool", async () => {
    const long = "x".repeat(5_000);
    const gpu = `${long}, 1, 1, ${long}\n`;
    const run = (): Promise<string> => Promise.resolve(gpu.repeat(100));
    const hardware = await detect(makeProbe({ run, osName: () => Promise.resolve(long) }));
    expect(hardwareSchema.parse(hardware)).toEqual(hardware);
    expect(hardware.gpus).toHaveLength(64);
  });

  it("rejects with the signal's reason when aborted", async () => {
    const probe = makeProbe({ graphics: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const options = { overrides: {}, caps: {}, modelDirectory: "/", diskBudgetBytes: 1, probe };
    const detecting = detectHardware({ ...options, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(detecting).rejects.toThrow("enough");
  });

  it("reports this machine in the protocol's form", async () => {
    const hardware = await detectHardware({
      overrides: {},
      caps: {},
      modelDirectory: "/nowhere/x",
      diskBudgetBytes: 1,
    });
    expect(hardwareSchema.parse(hardware)).toEqual(hardware);
    expect(hardware.ramBytes).toBeGreaterThan(0);
    expect(hardware.diskFreeBytes).toBeGreaterThan(0);
  });
});

describe("detectHardware() with the owner's overrides", () => {
  const gpu: Gpu = { vendor: "Intel", name: "Arc", vramBytes: 16 * GIB, unifiedMemory: false, driver: null };

  it.each<[string, HardwareOverrides, Partial<Hardware>]>([
    ["ramBytes", { ramBytes: 10 * GIB }, { ramBytes: 8 * GIB }],
    ["gpus", { gpus: [gpu] }, { gpus: [gpu] }],
    ["physicalCores", { physicalCores: 3 }, { physicalCores: 3 }],
    ["logicalCores", { logicalCores: 8 }, { logicalCores: 8 }],
    ["cpuModel and osName", { cpuModel: "C", osName: "O" }, { cpuModel: "C", osName: "O" }],
    ["diskFreeBytes", { diskFreeBytes: 7 }, { diskFreeBytes: 7 }],
    ["nothing for null", { ramBytes: null, vramBytes: null, gpus: null }, { logicalCores: 4, gpus: [] }],
  ])("applies %s", async (_title, overrides, expected) => {
    expect(await detect(makeProbe(), { overrides })).toMatchObject(expected);
  });

  it("applies VRAM to one GPU, several GPUs, a GPU that was not found, or none", async () => {
    const vramOf = async (probe: HostProbe, vramBytes: number): Promise<(number | null)[]> =>
      (await detect(probe, { overrides: { vramBytes } })).gpus.map((found) => found.vramBytes);
    expect(await vramOf(withNvidia("nvidia-smi-580-gb10.csv"), 12 * GIB)).toEqual([12 * GIB]);
    expect(await vramOf(withNvidia("nvidia-smi-535-two-a100.csv"), 11)).toEqual([6, 5]);
    expect(await vramOf(makeProbe(), 8 * GIB)).toEqual([8 * GIB]);
    expect(await vramOf(makeProbe(), 0)).toEqual([]);
  });
});

describe("detectHardware() with the owner's caps", () => {
  it("reduces RAM, cores and the disk budget, including overrides, and raises nothing", async () => {
    const caps = { ramBytes: 4 * GIB, logicalCores: 1, diskBytes: 10 * GIB };
    const reduced = { ramBytes: 4 * GIB, logicalCores: 1, physicalCores: 1, diskBudgetBytes: 10 * GIB };
    expect(await detect(makeProbe(), { caps, overrides: { ramBytes: 64 * GIB } })).toMatchObject(reduced);
    const highCaps = { ramBytes: 99 * GIB, logicalCores: 99, diskBytes: 999 * GIB };
    const unchanged = { ramBytes: 16 * GIB, logicalCores: 4, diskBudgetBytes: 100 * GIB };
    expect(await detect(makeProbe(), { caps: highCaps })).toMatchObject(unchanged);
  });

  it.each([
    [64, 54.4],
    [16, 13.6],
    [8, 6],
    [4, 2],
    [1, 0.5],
  ])("reserves RAM for the owner without a cap: of %d GiB, jobs get %d", async (totalGib, expectedGib) => {
    const { ramBytes } = await detect(makeProbe({ totalRamBytes: () => totalGib * GIB }));
    expect(ramBytes).toBe(Math.floor(expectedGib * GIB));
  });

  it("reduces VRAM over all GPUs, starting with the last", async () => {
    const { gpus } = await detect(withNvidia("nvidia-smi-535-two-a100.csv"), { caps: { vramBytes: 100 * GIB } });
    expect(gpus.map(({ vramBytes }) => vramBytes)).toEqual([81_920 * MIB, 20 * GIB]);
  });

  it("keeps unknown VRAM unknown without a cap", async () => {
    const { gpus } = await detect(withNvidia("nvidia-smi-580-gb10.csv"), { caps: { ramBytes: 8 * GIB } });
    expect(gpus.map(({ vramBytes }) => vramBytes)).toEqual([null]);
  });

  it.each([0, 4 * GIB])("uses a cap of %d bytes as the size of unknown VRAM", async (vramBytes) => {
    const hardware = await detect(withNvidia("nvidia-smi-580-gb10.csv"), { caps: { vramBytes } });
    expect(hardware.gpus).toMatchObject([{ vramBytes }]);
    expect(memoryCapsOf(hardware).vramBytes).toBe(vramBytes);
  });

  it("reduces a GPU with unified memory to the RAM for jobs", async () => {
    const graphics = controllers("si-5.33-macos-m2-pro.json");
    const probe = makeProbe({ platform: "darwin", arch: "arm64", graphics });
    const { gpus } = await detect(probe, { caps: { ramBytes: 4 * GIB } });
    expect(gpus).toMatchObject([{ vramBytes: 4 * GIB, unifiedMemory: true }]);
  });
});
