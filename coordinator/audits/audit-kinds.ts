import { cargoFeaturesOf, SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";

/** How answers are audited. `read`: another Island reads the text. `repeat`: another Island runs the job again. */
export type AuditKind = "read" | "repeat";

/** Feature of agents that read an answer. See `shared/features/features.ts`. */
const READ_FEATURE = "chat.read";

/**
 * Returns how answers of a Cargo are audited; null if they are not. Answers after reasoning cannot be read, the results
 * of a container and of speech synthesis are not determined by the input, and a private Cargo runs only for its account.
 */
export function auditKindOf(cargo: CatalogEntry): AuditKind | null {
  const { isChat, runtimeType, reasoning, onnxTaskType, privateTo } = cargo;
  if (privateTo !== undefined) return null;
  if (isChat) return runtimeType === "llmcpp" && reasoning !== true ? "read" : null;
  switch (runtimeType) {
    case "wasm":
    case "diffusers":
    case "llmcpp":
      return "repeat";
    case "onnx":
      return onnxTaskType === "text-to-speech" ? null : "repeat";
    case "container":
    case "coreml":
    case "engine":
      return null;
    default:
      throw new Error(`Unknown runtime ${String(runtimeType satisfies never)}`);
  }
}

/**
 * Returns whether only agents with {@link SEEDED_FEATURE} can repeat jobs of the Cargo. Interpreters have arguments and
 * draw random bytes, for example for the order of Python's sets. Earlier agents give them other bytes in each run.
 */
export function needsSeed({ runtimeType, args }: Pick<CatalogEntry, "runtimeType" | "args">): boolean {
  return runtimeType === "wasm" && args !== undefined;
}

/** Returns the features of Islands that can audit answers of the Cargo. */
export function auditFeaturesOf(cargo: CatalogEntry): readonly string[] {
  if (cargo.isChat) return [READ_FEATURE];
  return [...cargoFeaturesOf(cargo, {}), ...(needsSeed(cargo) ? [SEEDED_FEATURE] : [])];
}
