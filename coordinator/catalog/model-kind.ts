import type { CatalogEntry } from "./catalog.ts";

/** What a Cargo does for clients of OpenAI's API, in their words. */
export const MODEL_KINDS = ["chat", "embedding", "classification", "image", "transcription", "speech"] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

const KIND_OF_TASK: Readonly<Record<string, ModelKind>> = {
  "feature-extraction": "embedding",
  "text-classification": "classification",
  "automatic-speech-recognition": "transcription",
  "text-to-speech": "speech",
  "text-to-image": "image",
};

/** Null for a Cargo that runs as a job only. */
export function modelKindOf({
  isChat,
  runtimeType,
  onnxTaskType,
}: Pick<CatalogEntry, "isChat" | "runtimeType" | "onnxTaskType">): ModelKind | null {
  if (isChat) return "chat";
  if (runtimeType === "diffusers") return "image";
  return KIND_OF_TASK[onnxTaskType ?? ""] ?? null;
}
