import type { Gpu, Hardware } from "../../shared/hardware.ts";

/** Facts that the owner states in place of what is detected; absent or null: as detected. Caps still apply. */
export type HardwareOverrides = {
  readonly [Fact in Exclude<keyof Hardware, "diskBudgetBytes">]?: Hardware[Fact] | null;
} & {
  /** VRAM over all GPUs, shared out evenly; where no GPU was found it makes one. */
  readonly vramBytes?: number | null;
};

/** Most that jobs may have; absent or null: no cap. */
export interface HardwareCaps {
  readonly ramBytes?: number | null;
  /** Over all GPUs; the first ones are filled first. Stands for the size where that is unknown. */
  readonly vramBytes?: number | null;
  readonly diskBytes?: number | null;
  readonly logicalCores?: number | null;
}

/** Puts the owner's facts in place of the detected ones, then cuts to the owner's caps. Unknown stays unknown where no cap stands for it. */
export function applyOwnerLimits(detected: Hardware, overrides: HardwareOverrides, caps: HardwareCaps): Hardware {
  const { vramBytes, ...facts } = overrides;
  const stated = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));
  const hardware: Hardware = { ...detected, ...stated };
  const ramBytes = atMost(hardware.ramBytes, caps.ramBytes);
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

/** A GPU without memory of its own cannot have more than the RAM that jobs may use; one of unknown size has what the cap leaves. */
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
