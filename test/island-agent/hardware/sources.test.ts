import { describe, expect, it } from "vitest";
import { parseSysfsBytes, readAmdGpus } from "../../../island-agent/hardware/amd-sysfs.ts";
import {
  parseMemoryLimit,
  readMemoryLeftBytes,
  readMemoryLimitBytes,
} from "../../../island-agent/hardware/cgroup-memory.ts";
import { cpuLoadBetween } from "../../../island-agent/hardware/cpu-load.ts";
import {
  appleGpuBytes,
  gpusOfControllers,
  type GraphicsController,
} from "../../../island-agent/hardware/graphics-controllers.ts";
import { core, fixture, listerOf, readerOf, sysfsFixture } from "./fake-probe.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

describe("readAmdGpus()", () => {
  const gpusOf = (name: string): ReturnType<typeof readAmdGpus> => {
    const files = sysfsFixture(name);
    return readAmdGpus(listerOf(files)("/sys/class/drm"), readerOf(files));
  };

  it("returns each card once, without outputs and render nodes", () => {
    expect(gpusOf("amdgpu-6.8-rx7900-and-apu.sysfs")).toEqual([
      {
        vendor: "AMD",
        name: "Radeon RX 7900 XTX",
        vramBytes: 25_753_026_560,
        unifiedMemory: false,
        driver: "amdgpu",
        freeVramBytes: 25_753_026_560 - 1_503_238_553,
        load: 0.87,
      },
      expect.objectContaining({ name: "AMD GPU 0x164e", vramBytes: 512 * MIB }),
    ]);
  });

  it("returns unknown memory for an old driver, and omits other vendors", () => {
    expect(gpusOf("amdgpu-4.15-old-driver.sysfs")).toMatchObject([
      { name: "AMD GPU 0x67df", vramBytes: null, freeVramBytes: null, driver: "radeon" },
    ]);
  });

  it.each([null, "", "-1", "1e9", "many"])("returns unknown memory for the content %j", (text) => {
    expect(parseSysfsBytes(text)).toBeNull();
  });
});

describe("parseMemoryLimit()", () => {
  it.each([
    ["2147483648\n", 2 * GIB],
    ["max\n", null],
    ["9223372036854771712\n", null],
    ["18446744073709551615", null],
    ["0", null],
    ["", null],
    [null, null],
    ["2G", null],
  ])("reads %j as %j", (text, bytes) => {
    expect(parseMemoryLimit(text)).toBe(bytes);
  });
});

describe("readMemoryLimitBytes() and readMemoryLeftBytes()", () => {
  it.each([
    // Page cache that can be dropped counts as free, so the free memory is 2 GiB - (1.5 - 1).
    ["cgroup-v2-docker-2g.sysfs", 2 * GIB, 1.5 * GIB],
    ["cgroup-v2-systemd-slice-limit.sysfs", 8 * GIB, 7 * GIB],
    ["cgroup-v1-docker-4g-host-path.sysfs", 4 * GIB, 3 * GIB],
    ["cgroup-v1-6.18-vm-no-limit.sysfs", null, null],
  ])("read %s", (name, limitBytes, leftBytes) => {
    const read = readerOf(sysfsFixture(name));
    expect(readMemoryLimitBytes(read)).toBe(limitBytes);
    expect(readMemoryLeftBytes(read)).toBe(leftBytes);
  });

  it("return no limit without cgroups", () => {
    expect(readMemoryLimitBytes(() => null)).toBeNull();
    expect(readMemoryLeftBytes(() => null)).toBeNull();
  });

  it("read the mounted root if the group's path is outside it", () => {
    const files = new Map([
      ["/proc/self/cgroup", "0::/../../other\n"],
      ["/sys/fs/cgroup/memory.max", "1000000\n"],
    ]);
    expect(readMemoryLimitBytes(readerOf(files))).toBe(1_000_000);
  });
});

describe("gpusOfControllers()", () => {
  const gpusOf = (name: string, platform: string, arch = "x64"): ReturnType<typeof gpusOfControllers> =>
    gpusOfControllers(JSON.parse(fixture(name)) as GraphicsController[], { platform, arch, ramBytes: 32 * GIB });

  it("returns a share of RAM for an Apple GPU", () => {
    expect(gpusOf("si-5.33-macos-m2-pro.json", "darwin", "arm64")).toEqual([
      { vendor: "Apple", name: "Apple M2 Pro", vramBytes: appleGpuBytes(32 * GIB), unifiedMemory: true, driver: null },
    ]);
  });

  it("reads real sizes and shared memory on Windows, without display adapters and the 4 GiB ceiling", () => {
    const gpus = gpusOf("si-5.33-windows-amd-and-intel.json", "win32");
    expect(gpus.map(({ name, vramBytes, unifiedMemory }) => [name, vramBytes, unifiedMemory])).toEqual([
      ["AMD Radeon RX 6800 XT", 16 * GIB, false],
      ["Intel(R) UHD Graphics 770", null, true],
      ["AMD Radeon RX 580", null, false],
    ]);
  });

  it("does not use a PCI window on Linux as memory", () => {
    expect(gpusOf("si-5.33-linux-lspci-arc-and-cirrus.json", "linux")).toMatchObject([
      { name: "DG2 [Arc A770]", vramBytes: null },
    ]);
  });

  it("omits controllers without a name", () => {
    expect(gpusOfControllers([{ vendor: "", model: " " }], { platform: "linux", arch: "x64", ramBytes: 1 })).toEqual(
      [],
    );
  });
});

describe("appleGpuBytes()", () => {
  it("returns 2/3 of RAM up to 36 GiB, and 3/4 above", () => {
    expect(appleGpuBytes(36 * GIB)).toBe(24 * GIB);
    expect(appleGpuBytes(64 * GIB)).toBe(48 * GIB);
  });
});

describe("cpuLoadBetween()", () => {
  it("returns the busy share of all cores", () => {
    expect(cpuLoadBetween([core(0, 0), core(100, 0)], [core(100, 0), core(100, 100)])).toBe(0.5);
  });

  it("returns null if no time passed or a core was added", () => {
    expect(cpuLoadBetween([core(1, 1)], [core(1, 1)])).toBeNull();
    expect(cpuLoadBetween([core(1, 1)], [core(2, 2), core(0, 0)])).toBeNull();
    expect(cpuLoadBetween([], [])).toBeNull();
  });
});
