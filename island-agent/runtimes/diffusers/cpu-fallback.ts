import { JobFailure } from "../../../shared/errors.ts";
import type { DeviceChoice, ExecutionProvider } from "../onnx/execution-providers.ts";

interface OpenedModel<T> {
  readonly opened: T;
  readonly providers: readonly ExecutionProvider[];
  /** Reason why `best` was not used; null when it was. */
  readonly refused: string | null;
}

/**
 * Opens a model with the providers `best`. Falls back to the CPU if they cannot run it (missing operator, too little
 * memory) and `choice` is `auto`. @throws errors of `open`.
 */
export async function openWithCpuFallback<T>(
  open: (providers: readonly ExecutionProvider[]) => Promise<T>,
  best: readonly ExecutionProvider[],
  choice: DeviceChoice,
): Promise<OpenedModel<T>> {
  try {
    return { opened: await open(best), providers: best, refused: null };
  } catch (error) {
    if (choice !== "auto" || best[0] === "cpu" || !(error instanceof JobFailure)) throw error;
    return { opened: await open(["cpu"]), providers: ["cpu"], refused: `${best[0]}: ${error.message}` };
  }
}
