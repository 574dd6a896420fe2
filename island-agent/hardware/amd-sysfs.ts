import type { Gpu } from "../../shared/hardware.ts";
import { shareOfPercent } from "./nvidia-smi.ts";

export interface AmdGpu extends Gpu {
  readonly freeVramBytes: number | null;
  /** Load of 0 to 1; null if unknown. */
  readonly load: number | null;
}

const DRM = "/sys/class/drm";
const AMD_VENDOR_ID = "0x1002";

/** Reads a file of the machine; null when it is missing or not readable. */
export type ReadText = (path: string) => string | null;

/** Reads the AMD GPUs that Linux's amdgpu driver shows under /sys/class/drm. `entries`: the names in that directory. */
export function readAmdGpus(entries: readonly string[], readText: ReadText): AmdGpu[] {
  return entries
    .filter((entry) => /^card\d+$/.test(entry))
    .flatMap((card) => {
      const read = (file: string): string | null => readText(`${DRM}/${card}/device/${file}`)?.trim() || null;
      if (read("vendor") !== AMD_VENDOR_ID) return [];
      const vramBytes = parseSysfsBytes(read("mem_info_vram_total"));
      const usedBytes = parseSysfsBytes(read("mem_info_vram_used"));
      return [
        {
          vendor: "AMD",
          name: read("product_name") ?? `AMD GPU ${read("device") ?? card}`,
          vramBytes: vramBytes === 0 ? null : vramBytes,
          unifiedMemory: false,
          driver: driverName(read("uevent")),
          load: shareOfPercent(read("gpu_busy_percent")),
          freeVramBytes: vramBytes === null || usedBytes === null ? null : Math.max(0, vramBytes - usedBytes),
        },
      ];
    });
}

/** Parses a number of bytes, as the kernel writes it. */
export function parseSysfsBytes(text: string | null): number | null {
  return text !== null && /^\d{1,16}$/.test(text.trim()) ? Number(text) : null;
}

function driverName(uevent: string | null): string | null {
  return /^DRIVER=(.+)$/m.exec(uevent ?? "")?.[1] ?? null;
}
