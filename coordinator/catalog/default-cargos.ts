import { DEFAULT_KINDS, type DefaultKind, type DefaultSlugs } from "../config/default-cargo-settings.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf } from "./cargo-file.ts";
import { modelKindOf, type ModelKind } from "./model-kind.ts";

/** What can be the default of a kind. `what` completes "is not …". */
const RULES: Readonly<Record<DefaultKind, { readonly what: string; readonly fits: readonly ModelKind[] }>> = {
  chat: { what: "a chat Cargo", fits: ["chat"] },
  embedding: { what: "a Cargo for embeddings", fits: ["embedding"] },
  image: { what: "a Cargo that draws", fits: ["image"] },
  transcription: { what: "a Cargo that transcribes", fits: ["transcription"] },
  speech: { what: "a Cargo that speaks", fits: ["speech"] },
  moderation: { what: "a Cargo that classifies texts", fits: ["classification"] },
  rerank: { what: "a Cargo that ranks or makes embeddings", fits: ["rerank", "embedding"] },
};

/** Whether the Cargo can be the default of the kind. */
export function isFit(kind: DefaultKind, cargo: Parameters<typeof modelKindOf>[0]): boolean {
  const found = modelKindOf(cargo);
  return found !== null && RULES[kind].fits.includes(found);
}

/** What is wrong with the slugs that the operator set, a line for each. */
export function defaultProblems(files: readonly CargoFile[], slugs: DefaultSlugs): string[] {
  const cargos = new Map(files.map((file) => [file.slug, cargoOf(file)]));
  return DEFAULT_KINDS.flatMap((kind) => {
    const slug = slugs[kind] ?? null;
    if (slug === null) return [];
    const cargo = cargos.get(slug);
    if (cargo !== undefined && isFit(kind, cargo)) return [];
    const fitting = [...cargos.values()].filter((each) => isFit(kind, each)).map((each) => each.slug);
    const why = cargo === undefined ? "is not in the catalog" : `is not ${RULES[kind].what}`;
    return [`default_${kind}_cargo: "${slug}" ${why}; ${kind} Cargos: ${fitting.join(", ") || "none"}`];
  });
}
