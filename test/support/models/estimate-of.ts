import type { CargoManifest } from "../../../shared/cargo.ts";
import type { CargoRuntime, MemoryUse } from "../../../island-agent/runtimes/runtime.ts";

/** Returns the runtime's memory estimate for a load, and aborts the load. @throws the error of the estimate. */
export async function estimateOf(
  runtime: CargoRuntime,
  cargo: CargoManifest,
  modelPath: string | null,
): Promise<MemoryUse> {
  const isEnough = new Error("Stop after the estimate");
  let memory: MemoryUse | undefined;
  await runtime
    .load(cargo, modelPath, new AbortController().signal, async (estimate) => {
      memory = await estimate();
      throw isEnough;
    })
    .catch((error: unknown) => {
      if (error !== isEnough) throw error;
    });
  if (memory === undefined) throw new Error("The load did not reserve memory");
  return memory;
}
