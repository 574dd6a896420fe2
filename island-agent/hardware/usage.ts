import type { CpuInfo } from "node:os";
import type { Clock } from "../../shared/clock.ts";
import { totalVramBytes, type Hardware } from "../../shared/hardware.ts";
import { readAmdGpus, type AmdGpu } from "./amd-sysfs.ts";
import { readMemoryLeftBytes } from "./cgroup-memory.ts";
import { cpuLoadBetween } from "./cpu-load.ts";
import { systemProbe, type HostProbe } from "./host-probe.ts";
import { NVIDIA_USAGE_ARGUMENTS, parseNvidiaUsage } from "./nvidia-smi.ts";
import { findTemperatureFiles, highestOf, readHottest } from "./temperature.ts";

/** Load and free memory of the machine now; unknown values are null. */
interface Usage {
  /** Load of all cores since the last reading, 0 to 1. */
  readonly cpuLoad: number | null;
  readonly freeRamBytes: number | null;
  readonly freeVramBytes: number | null;
  /** Temperature of the hottest processor or graphics card in °C. */
  readonly temperatureC: number | null;
  /** Load of the busiest graphics card, 0 to 1. */
  readonly gpuLoad: number | null;
}

/** Interval of nvidia-smi, which may take seconds on a busy GPU. Until then, its last output is used. */
const NVIDIA_INTERVAL_MS = 10_000;

/**
 * Reads the machine's load for each heartbeat, in well under a millisecond.
 * @param hardware as reported, until `setHardware`. Free memory is never reported as more than its total.
 */
export function openUsageSampler({
  clock,
  hardware,
  probe = systemProbe,
}: {
  readonly clock: Clock;
  hardware: Pick<Hardware, "ramBytes" | "gpus">;
  readonly probe?: HostProbe;
}) {
  const stopping = new AbortController();
  let nvidiaFreeBytes: number | null = null;
  let nvidiaTemperatureC: number | null = null;
  let nvidiaLoad: number | null = null;
  let nvidiaStartedMs = Number.NEGATIVE_INFINITY;
  let nvidiaRun: Promise<void> | null = null;
  let cpus: readonly CpuInfo[] = probe.cpus();
  const temperatureFiles =
    probe.platform === "linux"
      ? findTemperatureFiles(
          (path) => probe.listDirectory(path),
          (path) => probe.readText(path),
        )
      : [];
  updateNvidia();

  function setHardware(changed: Pick<Hardware, "ramBytes" | "gpus">): void {
    hardware = changed;
  }

  function read(): Usage {
    updateNvidia();
    const before = cpus;
    cpus = probe.cpus();
    const amd = amdGpus();
    return {
      cpuLoad: cpuLoadBetween(before, cpus),
      freeRamBytes: freeRamBytes(),
      freeVramBytes: freeVramBytes(amd),
      gpuLoad: highestOf([nvidiaLoad, ...amd.map(({ load }) => load)]),
      temperatureC: highestOf([readHottest(temperatureFiles, (path) => probe.readText(path)), nvidiaTemperatureC]),
    };
  }

  /**
   * Returns the RAM that a load can use now. Null where the system reports only unused memory without reclaimable
   * caches: macOS reports a few hundred MB while gigabytes are available.
   */
  function loadableRamBytes(): number | null {
    return ["linux", "win32"].includes(probe.platform) ? freeRamBytes() : null;
  }

  function freeRamBytes(): number {
    const isLinux = probe.platform === "linux";
    const left = isLinux ? readMemoryLeftBytes((path) => probe.readText(path)) : null;
    return Math.min(probe.freeRamBytes(), left ?? Number.POSITIVE_INFINITY, hardware.ramBytes);
  }

  function freeVramBytes(amdGpus: readonly AmdGpu[]): number | null {
    const amd = sumKnown(amdGpus.map(({ freeVramBytes }) => freeVramBytes));
    if (nvidiaFreeBytes === null && amd === null) return null;
    return Math.min((nvidiaFreeBytes ?? 0) + (amd ?? 0), totalVramBytes(hardware));
  }

  function amdGpus(): AmdGpu[] {
    if (!hasGpuOf("AMD") || probe.platform !== "linux") return [];
    return readAmdGpus(probe.listDirectory("/sys/class/drm"), (path) => probe.readText(path));
  }

  /** Starts a reading in the background if the previous one is old enough and none is running. */
  function updateNvidia(): void {
    const isDue = clock.monotonicMs() - nvidiaStartedMs >= NVIDIA_INTERVAL_MS;
    if (!hasGpuOf("NVIDIA") || nvidiaRun !== null || !isDue || stopping.signal.aborted) return;
    nvidiaStartedMs = clock.monotonicMs();
    nvidiaRun = probe.run("nvidia-smi", NVIDIA_USAGE_ARGUMENTS, stopping.signal).then((text) => {
      const gpus = parseNvidiaUsage(text ?? "");
      nvidiaFreeBytes = sumKnown(gpus.map(({ freeVramBytes }) => freeVramBytes));
      nvidiaTemperatureC = highestOf(gpus.map(({ temperatureC }) => temperatureC));
      nvidiaLoad = highestOf(gpus.map(({ load }) => load));
      nvidiaRun = null;
    });
  }

  function hasGpuOf(vendor: "NVIDIA" | "AMD"): boolean {
    return hardware.gpus.some((gpu) => gpu.vendor === vendor);
  }

  return {
    setHardware,
    read,
    loadableRamBytes,
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort();
      await nvidiaRun;
    },
  };
}

export type UsageSampler = ReturnType<typeof openUsageSampler>;

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
