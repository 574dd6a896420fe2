import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";

const GIB = 1_024 ** 3;

/** A chat Cargo of a JobWorld. */
export function worldCargo(
  [slug, priceMicro]: readonly [slug: string, priceMicro: number],
  index: number,
): CatalogEntry {
  return {
    slug,
    workloadId: index + 1,
    name: slug,
    description: "",
    category: "llm",
    licence: "MIT",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: { url: "/models/tiny.gguf", sha256: null, sizeBytes: null },
    requiredRamBytes: GIB,
    requiredVramBytes: 0,
    contextTokens: 2_048,
    priceMicro,
    runLimitMs: 300_000,
    waitLimitMs: 3_600_000,
    inputSchema: { type: "object" },
    exampleInput: { prompt: "hi" },
    outputSchema: {},
    isChat: true,
  };
}
