import { MIB } from "../../shared/format-bytes.ts";
import type { Gpu } from "../../shared/hardware.ts";

/** Arguments whose output {@link parseNvidiaSmi} reads. */
export const NVIDIA_SMI_ARGUMENTS = [
  "--query-gpu=name,memory.total,memory.free,driver_version",
  "--format=csv,noheader,nounits",
] as const;

/** Arguments whose output {@link parseNvidiaUsage} reads: temperature and load, then the same fields. */
export const NVIDIA_USAGE_ARGUMENTS = [
  "--query-gpu=temperature.gpu,utilization.gpu,name,memory.total,memory.free,driver_version",
  "--format=csv,noheader,nounits",
] as const;

interface NvidiaGpu extends Gpu {
  readonly freeVramBytes: number | null;
}

/** Texts for unknown values: "[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "N/A". */
const UNKNOWN_VALUE = /^(?:\[.*\]|N\/A)$/;
/** Chips whose GPU shares the machine's RAM: Jetson and Grace Blackwell desktops. */
const SHARED_RAM_CHIPS = /\b(?:GB10|Orin|Xavier|Thor|Tegra|nvgpu)\b/i;

/** Parses `nvidia-smi`'s CSV, one line per GPU, memory in MiB. Other lines (errors of the driver) are skipped. */
export function parseNvidiaSmi(text: string): NvidiaGpu[] {
  return text.split("\n").flatMap((line) => {
    const fields = line.split(",").map((field) => field.trim());
    // Read from the right, because a name may contain a comma.
    const [driver = "", free = "", total = "", ...name] = fields.toReversed();
    if (name.length === 0 || !isMemory(total) || !isMemory(free)) return [];
    const gpuName = name.toReversed().join(", ");
    return [
      {
        vendor: "NVIDIA",
        name: gpuName,
        vramBytes: memoryBytes(total),
        unifiedMemory: SHARED_RAM_CHIPS.test(gpuName),
        driver: driver === "" || UNKNOWN_VALUE.test(driver) ? null : driver,
        freeVramBytes: memoryBytes(free),
      },
    ];
  });
}

/** Temperature (°C) and load (0 to 1) of a GPU; null if unknown. */
interface NvidiaUsage extends NvidiaGpu {
  readonly temperatureC: number | null;
  readonly load: number | null;
}

/** Parses the output for {@link NVIDIA_USAGE_ARGUMENTS}. */
export function parseNvidiaUsage(text: string): NvidiaUsage[] {
  return text.split("\n").flatMap((line) => {
    const [temperature = "", percent = "", ...rest] = line.split(",");
    const temperatureC = /^\d{1,3}$/.test(temperature.trim()) ? Number(temperature) : null;
    return parseNvidiaSmi(rest.join(",")).map((gpu) => ({ ...gpu, temperatureC, load: shareOfPercent(percent) }));
  });
}

/** Parses "37" as 0.37; null if the text is not a percentage. */
export function shareOfPercent(text: string | null): number | null {
  const percent = /^\d{1,3}$/.test(text?.trim() ?? "") ? Number(text) : Number.NaN;
  return percent <= 100 ? percent / 100 : null;
}

function isMemory(field: string): boolean {
  return /^\d+$/.test(field) || UNKNOWN_VALUE.test(field);
}

/** Returns the bytes. A total of 0 MiB means unknown. Free memory may be 0. */
function memoryBytes(field: string): number | null {
  return /^\d+$/.test(field) ? Number(field) * MIB : null;
}
