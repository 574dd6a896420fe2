import type { CpuInfo } from "node:os";
import type { Clock } from "../../shared/clock.ts";
import { totalVramBytes, type Hardware } from "../../shared/hardware.ts";
import { readAmdGpus, type AmdGpu } from "./amd-sysfs.ts";
import { readMemoryLeftBytes } from "./cgroup-memory.ts";
import { cpuLoadBetween } from "./cpu-load.ts";
import { systemProbe, type HostProbe } from "./host-probe.ts";
import { NVIDIA_USAGE_ARGUMENTS, parseNvidiaUsage } from "./nvidia-smi.ts";
import { findTemperatureFiles, highestOf, readHottest } from "./temperature.ts";

/** Load and free memory of the machine now; unknown is null. */
export interface Usage {
  /** 0 to 1 over all cores, since the last reading. */
  readonly cpuLoad: number | null;
  readonly freeRamBytes: number | null;
  readonly freeVramBytes: number | null;
  /** °C of the hottest processor or graphics card. */
  readonly temperatureC: number | null;
  /** 0 to 1, of the busiest graphics card. */
  readonly gpuLoad: number | null;
}

/** nvidia-smi may take seconds on a busy GPU. It runs in the background at this interval, and its last answer is used. */
const NVIDIA_INTERVAL_MS = 10_000;

/** Reads the machine's load for each heartbeat, in well under a millisecond. */
export class UsageSampler implements AsyncDisposable {
  readonly #clock: Clock;
  #hardware: Pick<Hardware, "ramBytes" | "gpus">;
  readonly #probe: HostProbe;
  readonly #stopping = new AbortController();
  #cpus: readonly CpuInfo[];
  #nvidiaFreeBytes: number | null = null;
  #nvidiaTemperatureC: number | null = null;
  #nvidiaLoad: number | null = null;
  readonly #temperatureFiles: readonly string[];
  #nvidiaAskedMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  private constructor(clock: Clock, hardware: Pick<Hardware, "ramBytes" | "gpus">, probe: HostProbe) {
    this.#clock = clock;
    this.#hardware = hardware;
    this.#probe = probe;
    this.#cpus = probe.cpus();
    this.#temperatureFiles =
      probe.platform === "linux"
        ? findTemperatureFiles(
            (path) => probe.listDirectory(path),
            (path) => probe.readText(path),
          )
        : [];
    this.#askNvidia();
  }

  /** `hardware`: as reported, until {@link setHardware}. Free memory is never reported as more than its total. */
  static open(options: {
    clock: Clock;
    hardware: Pick<Hardware, "ramBytes" | "gpus">;
    probe?: HostProbe;
  }): UsageSampler {
    return new UsageSampler(options.clock, options.hardware, options.probe ?? systemProbe);
  }

  /** The owner has changed the caps. */
  setHardware(hardware: Pick<Hardware, "ramBytes" | "gpus">): void {
    this.#hardware = hardware;
  }

  read(): Usage {
    this.#askNvidia();
    const before = this.#cpus;
    this.#cpus = this.#probe.cpus();
    const amd = this.#amdGpus();
    return {
      cpuLoad: cpuLoadBetween(before, this.#cpus),
      freeRamBytes: this.#freeRamBytes(),
      freeVramBytes: this.#freeVramBytes(amd),
      gpuLoad: highestOf([this.#nvidiaLoad, ...amd.map(({ load }) => load)]),
      temperatureC: highestOf([
        readHottest(this.#temperatureFiles, (path) => this.#probe.readText(path)),
        this.#nvidiaTemperatureC,
      ]),
    };
  }

  /**
   * RAM that a load can have now. Null where the system reports only unused memory without reclaimable caches: macOS reports a
   * few hundred MB while gigabytes are available.
   */
  loadableRamBytes(): number | null {
    return ["linux", "win32"].includes(this.#probe.platform) ? this.#freeRamBytes() : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#asking;
  }

  #freeRamBytes(): number {
    const isLinux = this.#probe.platform === "linux";
    const left = isLinux ? readMemoryLeftBytes((path) => this.#probe.readText(path)) : null;
    return Math.min(this.#probe.freeRamBytes(), left ?? Number.POSITIVE_INFINITY, this.#hardware.ramBytes);
  }

  #freeVramBytes(amdGpus: readonly AmdGpu[]): number | null {
    const amd = sumKnown(amdGpus.map(({ freeVramBytes }) => freeVramBytes));
    if (this.#nvidiaFreeBytes === null && amd === null) return null;
    return Math.min((this.#nvidiaFreeBytes ?? 0) + (amd ?? 0), totalVramBytes(this.#hardware));
  }

  #amdGpus(): AmdGpu[] {
    if (!this.#has("AMD") || this.#probe.platform !== "linux") return [];
    return readAmdGpus(this.#probe.listDirectory("/sys/class/drm"), (path) => this.#probe.readText(path));
  }

  /** Starts a reading in the background if the last one is old enough and none is under way. */
  #askNvidia(): void {
    const isDue = this.#clock.monotonicMs() - this.#nvidiaAskedMs >= NVIDIA_INTERVAL_MS;
    if (!this.#has("NVIDIA") || this.#asking !== null || !isDue || this.#stopping.signal.aborted) return;
    this.#nvidiaAskedMs = this.#clock.monotonicMs();
    this.#asking = this.#probe.run("nvidia-smi", NVIDIA_USAGE_ARGUMENTS, this.#stopping.signal).then((text) => {
      const gpus = parseNvidiaUsage(text ?? "");
      this.#nvidiaFreeBytes = sumKnown(gpus.map(({ freeVramBytes }) => freeVramBytes));
      this.#nvidiaTemperatureC = highestOf(gpus.map(({ temperatureC }) => temperatureC));
      this.#nvidiaLoad = highestOf(gpus.map(({ load }) => load));
      this.#asking = null;
    });
  }

  #has(vendor: "NVIDIA" | "AMD"): boolean {
    return this.#hardware.gpus.some((gpu) => gpu.vendor === vendor);
  }
}

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
