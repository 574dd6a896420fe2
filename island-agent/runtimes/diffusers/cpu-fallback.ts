import { JobFailure } from "../../../shared/errors.ts";
import type { DeviceChoice, ExecutionProvider } from "../onnx/execution-providers.ts";

interface Opened<T> {
  readonly opened: T;
  readonly providers: readonly ExecutionProvider[];
  /** Why `best` was not used; null when it was. */
  readonly refused: string | null;
}

/**
 * Opens a model with the providers `best`, or on the CPU if they cannot run it (missing operator, too little memory) and `choice` is
 * `auto`. @throws what `open` throws.
 */
export async function openWithCpuFallback<T>(
  open: (providers: readonly ExecutionProvider[]) => Promise<T>,
  best: readonly ExecutionProvider[],
  choice: DeviceChoice,
): Promise<Opened<T>> {
  try {
    return { opened: await open(best), providers: best, refused: null };
  } catch (error) {
    if (choice !== "auto" || best[0] === "cpu" || !(error instanceof JobFailure)) throw error;
    return { opened: await open(["cpu"]), providers: ["cpu"], refused: `${best[0]}: ${error.message}` };
  }
}
