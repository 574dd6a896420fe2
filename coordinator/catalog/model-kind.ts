import { taskOf } from "../../shared/text-task.ts";
import type { CatalogCargo } from "./cargo-file.ts";

/** What a Cargo does for clients of OpenAI's API, in their words. */
export const MODEL_KINDS = [
  "chat",
  "embedding",
  "rerank",
  "classification",
  "image",
  "transcription",
  "speech",
] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

const KIND_OF_TASK: Readonly<Record<string, ModelKind>> = {
  "feature-extraction": "embedding",
  "text-ranking": "rerank",
  "text-classification": "classification",
  "automatic-speech-recognition": "transcription",
  "text-to-speech": "speech",
  "text-to-image": "image",
};

/** Null for a Cargo that runs as a job only. */
export function modelKindOf(
  cargo: Pick<CatalogCargo, "isChat" | "runtimeType" | "task" | "onnxTaskType">,
): ModelKind | null {
  if (cargo.isChat) return "chat";
  if (cargo.runtimeType === "diffusers") return "image";
  return KIND_OF_TASK[taskOf(cargo) ?? ""] ?? null;
}
