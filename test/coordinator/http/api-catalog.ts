import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";

const GIB = 1_024 ** 3;

export function makeCargo(override: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    slug: "tiny",
    workloadId: 7,
    createdAtMs: 1_700_000_000_999,
    name: "Tiny",
    description: "A small model",
    category: "llm",
    licence: "MIT",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: { url: "/models/tiny.gguf", sha256: null, sizeBytes: null },
    requiredRamBytes: GIB,
    requiredVramBytes: 0,
    contextTokens: 2_048,
    priceMicro: 1_500_000,
    runLimitMs: 300_000,
    waitLimitMs: 3_600_000,
    inputSchema: { type: "object" },
    exampleInput: { prompt: "hi" },
    outputSchema: { type: "string" },
    isChat: true,
    ...override,
  };
}

/** Cargos of the API's tests. */
export const CARGOS: readonly CatalogEntry[] = [
  makeCargo(),
  makeCargo({ slug: "second", workloadId: 8, name: "Second" }),
  makeCargo({
    slug: "words",
    workloadId: 9,
    category: "text",
    runtimeType: "onnx",
    onnxTaskType: "text-classification",
    contextTokens: null,
    priceMicro: 250_001,
    requiredRamBytes: 700_000_000,
    isChat: false,
  }),
];

/** The same Cargos, of which those for chats read images. */
export const CARGOS_WITH_IMAGES: readonly CatalogEntry[] = CARGOS.map((cargo) =>
  cargo.isChat ? { ...cargo, readsImages: true } : cargo,
);
