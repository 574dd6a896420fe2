import type { Gpu, Hardware } from "../../shared/hardware.ts";
import { readAmdGpus } from "./amd-sysfs.ts";
import { readMemoryLimitBytes } from "./cgroup-memory.ts";
import { gpusOfControllers } from "./graphics-controllers.ts";
import { systemProbe, type HostProbe } from "./host-probe.ts";
import { NVIDIA_SMI_ARGUMENTS, parseNvidiaSmi } from "./nvidia-smi.ts";
import { abortable } from "../../shared/async/abortable.ts";
import { applyOwnerLimits, type HardwareCaps, type HardwareOverrides } from "./owner-limits.ts";

/** Maximum number of GPUs and text lengths of a report. Source: shared/hardware.ts. */
const MAX_GPUS = 64;
const MAX_TEXT_CHARS = { vendor: 100, gpuName: 200, driver: 100, osName: 200, cpuModel: 200 } as const;

/**
 * Detects the hardware of this host, with the owner's overrides and caps. A missing tool leaves values unknown; it is
 * not an error.
 * @throws only `signal.reason` when aborted.
 */
export async function detectHardware(options: {
  readonly overrides: HardwareOverrides;
  readonly caps: HardwareCaps;
  /** Directory whose disk is measured. It may not exist yet. */
  readonly modelDirectory: string;
  readonly diskBudgetBytes: number;
  readonly signal?: AbortSignal;
  readonly probe?: HostProbe;
}): Promise<Hardware> {
  const { probe = systemProbe, signal } = options;
  const totalRamBytes = probe.totalRamBytes();
  const limitBytes = probe.platform === "linux" ? readMemoryLimitBytes((path) => probe.readText(path)) : null;
  const ramBytes = Math.min(totalRamBytes, limitBytes ?? totalRamBytes);
  // systeminformation has no signal option, so its programs end later.
  const [osName, physicalCores, gpus, diskFreeBytes] = await abortable(
    Promise.all([
      probe.osName(),
      probe.physicalCores(),
      detectGpus(probe, totalRamBytes, signal),
      probe.diskFreeBytes(options.modelDirectory),
    ]),
    signal,
  );
  const detected: Hardware = {
    platform: probe.platform,
    arch: probe.arch,
    osName: osName?.slice(0, MAX_TEXT_CHARS.osName) ?? null,
    cpuModel: cpuModel(probe),
    logicalCores: Math.max(1, probe.availableCores()),
    physicalCores,
    ramBytes,
    gpus,
    diskFreeBytes,
    diskBudgetBytes: options.diskBudgetBytes,
  };
  return applyOwnerLimits(detected, options.overrides, options.caps, totalRamBytes);
}

/** Returns GPUs from the vendors' tools, or from systeminformation if these report none. */
async function detectGpus(probe: HostProbe, ramBytes: number, signal?: AbortSignal): Promise<Gpu[]> {
  const nvidiaText = probe.platform === "darwin" ? null : await probe.run("nvidia-smi", NVIDIA_SMI_ARGUMENTS, signal);
  const nvidia = parseNvidiaSmi(nvidiaText ?? "");
  const amd =
    probe.platform === "linux"
      ? readAmdGpus(probe.listDirectory("/sys/class/drm"), (path) => probe.readText(path))
      : [];
  const precise: Gpu[] = [...nvidia, ...amd];
  if (precise.length > 0 && probe.platform === "linux") return precise.slice(0, MAX_GPUS).map(reportable);
  const others = gpusOfControllers(await probe.graphics(), { platform: probe.platform, arch: probe.arch, ramBytes });
  const isNew = ({ vendor, name }: Gpu): boolean => nvidia.length === 0 || !/nvidia/i.test(`${vendor ?? ""} ${name}`);
  return [...precise, ...others.filter(isNew)].slice(0, MAX_GPUS).map(reportable);
}

/** Returns only the fields of the protocol, truncated to its limits. */
function reportable({ vendor, name, vramBytes, unifiedMemory, driver }: Gpu): Gpu {
  return {
    vendor: vendor?.slice(0, MAX_TEXT_CHARS.vendor) ?? null,
    name: name.slice(0, MAX_TEXT_CHARS.gpuName),
    vramBytes,
    unifiedMemory,
    driver: driver?.slice(0, MAX_TEXT_CHARS.driver) ?? null,
  };
}

/** Returns null for "unknown", which some ARM kernels report. */
function cpuModel(probe: HostProbe): string | null {
  const model = probe.cpus()[0]?.model.trim() ?? "";
  return model === "" || model.toLowerCase() === "unknown" ? null : model.slice(0, MAX_TEXT_CHARS.cpuModel);
}
