import type { CargoManifest } from "../cargo.ts";

/** Names of agent features for Cargos, in `features` of `hello`, together with the features for chats (features.ts). */
export const CARGO_FEATURES = [
  "diffusers.image",
  "llmcpp.lora",
  "llmcpp.parts",
  "llmcpp.reasoning",
  "llmcpp.tasks",
  "llmcpp.template",
  "onnx.speech2",
] as const;
/** Feature that audits need and jobs do not: the input of a wasm job determines the random bytes of its program. */
export const SEEDED_FEATURE = "wasm.seeded";
type CargoFeature = (typeof CARGO_FEATURES)[number];

type Needs = (
  cargo: Pick<CargoManifest, "runtimeType" | "task" | "parts" | "adapters" | "reasoning" | "tools">,
  input: Readonly<Record<string, unknown>>,
) => boolean;

const FEATURE_CONDITIONS: Readonly<Record<CargoFeature, Needs>> = {
  "diffusers.image": ({ runtimeType }, { image }) => IMAGE_RUNTIMES.has(runtimeType) && image != null,
  "llmcpp.lora": ({ adapters }) => adapters !== undefined,
  "llmcpp.parts": ({ parts }) => parts !== undefined,
  "llmcpp.reasoning": ({ reasoning }) => reasoning !== undefined,
  "llmcpp.tasks": ({ task }) => task !== undefined,
  "llmcpp.template": ({ tools }) => tools !== undefined,
  "onnx.speech2": ({ runtimeType }, { timestamps, chunk_length_s: chunk, stride_length_s: stride }) =>
    SPEECH_RUNTIMES.has(runtimeType) && (typeof timestamps === "string" || chunk != null || stride != null),
};
const IMAGE_RUNTIMES: ReadonlySet<string> = new Set(["diffusers", "coreml"]);
const SPEECH_RUNTIMES: ReadonlySet<string> = new Set(["onnx", "coreml"]);

/** Returns the features that a job of a Cargo requires, sorted. The input of a chat may require more features. */
export function cargoFeaturesOf(
  cargo: Parameters<Needs>[0],
  input: Readonly<Record<string, unknown>>,
): readonly CargoFeature[] {
  return CARGO_FEATURES.filter((name) => FEATURE_CONDITIONS[name](cargo, input));
}
