import { setting, settingGroup, type Settings } from "../../shared/settings.ts";

/** Shipped Cargos for requests without a `model`, by kind; null for none. `default_<kind>_cargo` overrides each. */
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

/** Slugs that the operator set; null for the shipped Cargo, if the catalog has it. Chats always have a default. */
export type DefaultSlugs = { readonly [Kind in Exclude<DefaultKind, "chat">]?: string | null } & {
  readonly chat: string;
};

export const DEFAULT_CARGO_SETTINGS = settingGroup("Cargos and models", {
  defaultChatCargo: setting.text("default_chat_cargo", {
    fallback: SHIPPED_DEFAULTS.chat,
    type: "<slug>",
    meaning: "Cargo for chat requests without a model",
  }),
  defaultEmbeddingCargo: cargoFor("embedding", "embedding requests"),
  defaultImageCargo: cargoFor("image", "image requests"),
  defaultTranscriptionCargo: cargoFor("transcription", "transcription requests"),
  defaultSpeechCargo: cargoFor("speech", "speech requests"),
  defaultModerationCargo: cargoFor("moderation", "moderation requests"),
  defaultRerankCargo: cargoFor("rerank", "rerank requests"),
});

function cargoFor(kind: DefaultKind, requests: string) {
  const shipped = SHIPPED_DEFAULTS[kind];
  return setting.text(`default_${kind}_cargo`, {
    fallback: null,
    unsetMeans: shipped === null ? "such requests must name a model" : `${shipped}, if the catalog has it`,
    type: "<slug>",
    meaning: `Cargo for ${requests} without a model`,
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
