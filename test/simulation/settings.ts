import { generateKeyPairSync } from "node:crypto";
import { makeCatalog, type CatalogEntry } from "../../coordinator/catalog/catalog.ts";
import { cargoSigner } from "../../coordinator/islands/cargo-signer.ts";

const GIB = 1_024 ** 3;
export const GRACE_MS = 15_000;
export const RESTART_GRACE_MS = 45_000;
/** This equals the default of the setting `max_attempts`, which the simulation does not read. */
export const MAX_ATTEMPTS = 3;
export const NETWORK_FEE = 0.1;
export const PRIORITY_PRICE = 3;
export const RUN_LIMIT_MS = 300_000;
export const WAIT_LIMIT_MS = 3_600_000;
export const CHAT_WAIT_MS = 60_000;
export const FEED_DELAY_MS = 100;
export const PHASE_LIMITS = { accept: 5_000, start: 30_000, first_output: 60_000, silence: 60_000 };
/** Maximum tokens of a job. Islands generate fewer. */
export const MAX_TOKENS = 8;
/** Tokens of each prompt, as counted by honest Islands. */
export const PROMPT_TOKENS = 4;

/** `text` and `free` stream tokens, and `value` returns a JSON value. Shares and fees of the prices have remainders. */
export const PRICES = { text: 1_000_003, free: 0, value: 2_500_001 } as const;
export type CargoName = keyof typeof PRICES;
export const CARGO_NAMES = Object.keys(PRICES) as CargoName[];

/** Immutable, so that all seeds of a thread share them, and each Cargo is signed once. */
export const catalog = makeCatalog(CARGO_NAMES.map(makeCargo), { chat: "text" });
export const signer = cargoSigner(generateKeyPairSync("ed25519").privateKey);

function makeCargo(slug: CargoName, index: number): CatalogEntry {
  return {
    slug,
    workloadId: index + 1,
    createdAtMs: 0,
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
    priceMicro: PRICES[slug],
    runLimitMs: RUN_LIMIT_MS,
    waitLimitMs: WAIT_LIMIT_MS,
    inputSchema: { type: "object" },
    exampleInput: { prompt: "hi" },
    outputSchema: {},
    isChat: slug !== "value",
  };
}
