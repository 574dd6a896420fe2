import { totalVramBytes, type Hardware } from "../../shared/hardware.ts";

/** Memory limit for all Cargos together. */
interface MemoryCaps {
  readonly ramBytes: number;
  /** 0 without a GPU; infinite if the size of a GPU's memory is unknown. */
  readonly vramBytes: number;
}

/** Returns the memory that Cargos may take. The owner's caps are already applied to `hardware`. */
export function memoryCapsOf(hardware: Pick<Hardware, "ramBytes" | "gpus">): MemoryCaps {
  const isUnknown = hardware.gpus.some(({ vramBytes }) => vramBytes === null);
  const vramBytes = isUnknown ? Number.POSITIVE_INFINITY : totalVramBytes(hardware);
  return { ramBytes: hardware.ramBytes, vramBytes };
}
