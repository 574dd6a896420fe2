import { GIB } from "../../shared/format-bytes.ts";
import type { Gpu, Hardware } from "../../shared/hardware.ts";

/** Values from the owner that replace detected ones, unless they are absent or null. Caps still apply. */
export type HardwareOverrides = {
  readonly [Fact in Exclude<keyof Hardware, "diskBudgetBytes">]?: Hardware[Fact] | null;
} & {
  /** VRAM of all GPUs, divided evenly among them; adds a GPU when none was detected. */
  readonly vramBytes?: number | null;
};

/** Limits for jobs; absent or null for no cap. */
export interface HardwareCaps {
  /** Limit of RAM; absent or null for all RAM except {@link ownersRamBytes}. */
  readonly ramBytes?: number | null;
  /** VRAM of all GPUs, taken from the first ones first. It also replaces an unknown size. */
  readonly vramBytes?: number | null;
  readonly diskBytes?: number | null;
  readonly logicalCores?: number | null;
}

/** Returns the owner's RAM without a cap: 2 GiB, or 15 % if that is more, but at most half of the total. */
function ownersRamBytes(totalBytes: number): number {
  return Math.min(Math.max(2 * GIB, 0.15 * totalBytes), totalBytes / 2);
}

/**
 * Applies the owner's values, then the caps. An unknown size without a cap stays unknown.
 * @param totalRamBytes of the machine, of which a container may have less.
 */
export function applyOwnerLimits(
  detected: Hardware,
  overrides: HardwareOverrides,
  caps: HardwareCaps,
  totalRamBytes: number,
): Hardware {
  const { vramBytes, ...facts } = overrides;
  const stated = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));
  const hardware: Hardware = { ...detected, ...stated };
  const machineBytes = overrides.ramBytes ?? totalRamBytes;
  const ramCap = caps.ramBytes ?? Math.floor(machineBytes - ownersRamBytes(machineBytes));
  const ramBytes = atMost(hardware.ramBytes, ramCap);
  const logicalCores = Math.max(1, atMost(hardware.logicalCores, caps.logicalCores));
  const gpus = vramBytes === null || vramBytes === undefined ? hardware.gpus : stateVram(hardware.gpus, vramBytes);
  return {
    ...hardware,
    ramBytes,
    logicalCores,
    physicalCores: hardware.physicalCores === null ? null : Math.min(hardware.physicalCores, logicalCores),
    gpus: capVram(gpus, caps.vramBytes ?? null, ramBytes),
    diskBudgetBytes: atMost(hardware.diskBudgetBytes, caps.diskBytes),
  };
}

function stateVram(gpus: readonly Gpu[], totalBytes: number): Gpu[] {
  if (gpus.length === 0 && totalBytes === 0) return [];
  const targets: readonly Gpu[] =
    gpus.length > 0
      ? gpus
      : [{ vendor: null, name: "GPU stated by the owner", vramBytes: null, unifiedMemory: false, driver: null }];
  const share = Math.floor(totalBytes / targets.length);
  return targets.map((gpu, index) => ({
    ...gpu,
    vramBytes: index === 0 ? totalBytes - share * (targets.length - 1) : share,
  }));
}

/** Limits VRAM: unified memory to the RAM for jobs, and a GPU of unknown size to the rest of the cap. */
function capVram(gpus: readonly Gpu[], capBytes: number | null, ramBytes: number): Gpu[] {
  let left = capBytes ?? Number.POSITIVE_INFINITY;
  return gpus.map((gpu) => {
    if (gpu.vramBytes === null && capBytes === null) return gpu;
    const vramBytes = Math.min(gpu.vramBytes ?? left, left, gpu.unifiedMemory ? ramBytes : Number.POSITIVE_INFINITY);
    left -= vramBytes;
    return { ...gpu, vramBytes };
  });
}

function atMost(value: number, cap: number | null | undefined): number {
  return cap === null || cap === undefined ? value : Math.min(value, cap);
}
