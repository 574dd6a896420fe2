import { setting, type Settings } from "../../shared/settings.ts";

/**
 * What endpoints do for requests without a `model`, each with the shipped Cargo that is taken when the operator sets none with
 * `default_<kind>_cargo`; null if none is shipped.
 */
export const SHIPPED_DEFAULTS = {
  chat: "tiny-chat",
  embedding: "tiny-embed",
  image: "tiny-picture",
  transcription: "tiny-speech",
  speech: null,
  moderation: "tiny-classify",
  rerank: "tiny-embed",
};
export type DefaultKind = keyof typeof SHIPPED_DEFAULTS;
export const DEFAULT_KINDS = Object.keys(SHIPPED_DEFAULTS) as DefaultKind[];

/** Slugs that the operator set; null: the shipped Cargo, if the catalog has it. Chats always have a default. */
export type DefaultSlugs = { readonly [Kind in Exclude<DefaultKind, "chat">]?: string | null } & {
  readonly chat: string;
};

/** The Cargos of requests without a `model`, one for each kind of endpoint. */
export const DEFAULT_CARGO_SETTINGS = {
  defaultChatCargo: setting.text("default_chat_cargo", {
    fallback: SHIPPED_DEFAULTS.chat,
    meaning: "Cargo of a chat completion that names no model",
  }),
  defaultEmbeddingCargo: cargoFor("embedding", "an embeddings request"),
  defaultImageCargo: cargoFor("image", "a request for pictures"),
  defaultTranscriptionCargo: cargoFor("transcription", "a transcription"),
  defaultSpeechCargo: cargoFor("speech", "a request for speech"),
  defaultModerationCargo: cargoFor("moderation", "a moderation"),
  defaultRerankCargo: cargoFor("rerank", "a request to rank documents"),
};

function cargoFor(kind: DefaultKind, request: string) {
  const shipped = SHIPPED_DEFAULTS[kind];
  return setting.text(`default_${kind}_cargo`, {
    fallback: null,
    unsetMeans: shipped === null ? "such requests must name a model" : `${shipped}, if the catalog has it`,
    meaning: `Cargo of ${request} that names no model`,
  });
}

export function defaultSlugsOf(config: Settings<typeof DEFAULT_CARGO_SETTINGS>): DefaultSlugs {
  return {
    chat: config.defaultChatCargo,
    embedding: config.defaultEmbeddingCargo,
    image: config.defaultImageCargo,
    transcription: config.defaultTranscriptionCargo,
    speech: config.defaultSpeechCargo,
    moderation: config.defaultModerationCargo,
    rerank: config.defaultRerankCargo,
  };
}
