import { taskOf } from "../../shared/text-task.ts";
import { DEFAULT_KINDS, type DefaultKind, type DefaultSlugs } from "../config/default-cargo-settings.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf, type CatalogCargo } from "./cargo-file.ts";

export const MODEL_PATHS = {
  chat: "/chat/completions",
  embedding: "/embeddings",
  rerank: "/rerank",
  classification: "/moderations",
  image: "/images/generations",
  transcription: "/audio/transcriptions",
  speech: "/audio/speech",
};
export type ModelKind = keyof typeof MODEL_PATHS;

const KIND_OF_TASK: Readonly<Record<string, ModelKind>> = {
  "feature-extraction": "embedding",
  "text-ranking": "rerank",
  "text-classification": "classification",
  "automatic-speech-recognition": "transcription",
  "text-to-speech": "speech",
  "text-to-image": "image",
};

/** Returns the kind of model that a Cargo is; null if only jobs can use it. */
export function modelKindOf(
  cargo: Pick<CatalogCargo, "isChat" | "runtimeType" | "task" | "onnxTaskType">,
): ModelKind | null {
  if (cargo.isChat) return "chat";
  if (cargo.runtimeType === "diffusers") return "image";
  return KIND_OF_TASK[taskOf(cargo) ?? ""] ?? null;
}

/** Returns what a Cargo is for, in one or two words: "chat", "embedding", "object detection". */
export function purposeOf(file: CargoFile): string {
  const kind = modelKindOf(cargoOf(file));
  const otherwise = file.container === undefined ? file.category : "container";
  return kind ?? file.onnx_task_type?.replaceAll("-", " ") ?? otherwise;
}

interface Need {
  /** Words that complete the message "is not …". */
  readonly what: string;
  /** Words that complete the message "The model does not …". */
  readonly verb: string;
  /** Kinds of models that the endpoint accepts. */
  readonly fits: readonly ModelKind[];
}

export const NEEDS: Readonly<Record<DefaultKind, Need>> = {
  chat: { what: "a chat Cargo", verb: "chat", fits: ["chat"] },
  embedding: { what: "a Cargo for embeddings", verb: "make embeddings", fits: ["embedding"] },
  image: { what: "a Cargo that generates images", verb: "generate images", fits: ["image"] },
  transcription: { what: "a Cargo that transcribes", verb: "transcribe speech", fits: ["transcription"] },
  speech: { what: "a Cargo that generates speech", verb: "generate speech", fits: ["speech"] },
  moderation: { what: "a Cargo that classifies texts", verb: "classify texts", fits: ["classification"] },
  rerank: { what: "a Cargo that ranks or makes embeddings", verb: "rank texts", fits: ["rerank", "embedding"] },
};

/** Returns whether a Cargo can serve requests of the kind. */
export function isFit(kind: DefaultKind, cargo: Parameters<typeof modelKindOf>[0]): boolean {
  const found = modelKindOf(cargo);
  return found !== null && NEEDS[kind].fits.includes(found);
}

export function defaultProblems(files: readonly CargoFile[], slugs: DefaultSlugs): string[] {
  const cargos = new Map(files.map((file) => [file.slug, cargoOf(file)]));
  return DEFAULT_KINDS.flatMap((kind) => {
    const slug = slugs[kind] ?? null;
    if (slug === null) return [];
    const cargo = cargos.get(slug);
    if (cargo !== undefined && isFit(kind, cargo)) return [];
    const fitting = [...cargos.values()].filter((each) => isFit(kind, each)).map((each) => each.slug);
    const problem = cargo === undefined ? "is not in the catalog" : `is not ${NEEDS[kind].what}`;
    return [`default_${kind}_cargo: "${slug}" ${problem}; ${kind} Cargos: ${fitting.join(", ") || "none"}`];
  });
}
