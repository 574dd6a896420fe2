import { GIB, MIB } from "../../shared/format-bytes.ts";
import type { Gpu } from "../../shared/hardware.ts";

/** Fields used of a controller in systeminformation's `graphics()`. Sizes in MiB. */
export interface GraphicsController {
  readonly vendor?: string | null;
  readonly model?: string | null;
  readonly name?: string | null;
  readonly vram?: number | null;
  readonly vramDynamic?: boolean | null;
  readonly memoryTotal?: number | null;
  readonly driverVersion?: string | null;
}

/** Display adapters of virtual machines and remote consoles, which cannot compute. */
const DISPLAY_ONLY =
  /aspeed|matrox|cirrus|vmware|virtio|qxl|bochs|virtualbox|hyper-v|basic (?:display|render)|parallels/i;
/** Sizes that Windows reports for every adapter with 4 GiB or more, because its field has 32 bits. */
const WINDOWS_CEILINGS_MIB: ReadonlySet<number> = new Set([4_095, 4_096]);

/** Returns the GPUs among systeminformation's controllers. `ramBytes`: the machine's RAM, which Apple's GPUs share. */
export function gpusOfControllers(
  controllers: readonly GraphicsController[],
  host: { readonly platform: string; readonly arch: string; readonly ramBytes: number },
): Gpu[] {
  return controllers.flatMap((controller) => {
    const name = nonEmpty(controller.model) ?? nonEmpty(controller.name);
    const vendor = nonEmpty(controller.vendor);
    if (name === null || DISPLAY_ONLY.test(`${vendor ?? ""} ${name}`)) return [];
    const driver = nonEmpty(controller.driverVersion);
    const isApple = host.platform === "darwin" && host.arch === "arm64" && /apple/i.test(`${vendor ?? ""} ${name}`);
    if (isApple) return [{ vendor, name, vramBytes: appleGpuBytes(host.ramBytes), unifiedMemory: true, driver }];
    const isShared = controller.vramDynamic === true;
    const vramBytes = isShared ? null : controllerBytes(controller, host.platform);
    return [{ vendor, name, vramBytes, unifiedMemory: isShared, driver }];
  });
}

/** Returns the RAM that macOS allows the GPU: 2/3, above 36 GiB 3/4. Source: recommendedMaxWorkingSetSize of Metal. */
export function appleGpuBytes(ramBytes: number): number {
  return Math.floor(ramBytes <= 36 * GIB ? (ramBytes * 2) / 3 : (ramBytes * 3) / 4);
}

/** Returns null on Linux, where `vram` is the size of a PCI window, not of the memory. */
function controllerBytes({ memoryTotal, vram }: GraphicsController, platform: string): number | null {
  if (isSize(memoryTotal)) return Math.round(memoryTotal * MIB);
  if (platform === "linux" || !isSize(vram)) return null;
  if (platform === "win32" && WINDOWS_CEILINGS_MIB.has(vram)) return null;
  return Math.round(vram * MIB);
}

function isSize(value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function nonEmpty(text: string | null | undefined): string | null {
  return text?.trim() || null;
}
