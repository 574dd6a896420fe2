import { expect, it, vi } from "vitest";
import { testLibrary, type Completion, type Library, type Target } from "../support/library-tests.ts";

// The library reads these variables when it is loaded.
vi.stubEnv("PROMPTFOO_DISABLE_TELEMETRY", "1");
vi.stubEnv("PROMPTFOO_DISABLE_UPDATE", "1");
vi.stubEnv("PROMPTFOO_CACHE_ENABLED", "false");
const { loadApiProvider } = await import("promptfoo");

const CHAT = "openai:chat";
/** By default promptfoo waits after a 429 of OpenAI's APIs until `X-RateLimit-Reset`, which is up to a minute. */
const ONCE = { maxRetries: 0 };

/** @param kind how it names an API. */
async function connect(kind: string, { url, key, model }: Target, config: object = {}) {
  const apiBaseUrl = kind.startsWith("anthropic") ? url : `${url}/v1`;
  return await loadApiProvider(`${kind}:${model}`, { options: { config: { apiBaseUrl, apiKey: key, ...config } } });
}

/** The library reports errors in its results. */
async function ask(kind: string, target: Target, prompt: string, config = {}): Promise<Completion> {
  const provider = await connect(kind, target, { ...ONCE, ...config });
  const { output, error, tokenUsage } = await provider.callApi(prompt);
  if (error !== undefined) throw new Error(error);
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return { text, inputTokens: tokenUsage?.prompt ?? 0, outputTokens: tokenUsage?.completion ?? 0 };
}

const limitError = { message: expect.stringMatching(/rate limit/i) };
const libraryOf = (kind: string): Library => ({
  chat: (target, prompt) => ask(kind, target, prompt),
  errors: {
    wrongKey: { message: expect.stringContaining("The API key or session token is not valid") },
    unknownModel: { message: expect.stringContaining("no-such-model") },
    overContext: { message: expect.stringMatching(/context length|too long/) },
  },
});

testLibrary(
  "promptfoo · chat",
  {
    ...libraryOf(CHAT),
    limitError,
    async object(target, prompt, colors) {
      const properties = { color: { type: "string", enum: [...colors] } };
      const schema = { type: "object", properties, required: ["color"], additionalProperties: false };
      const response_format = { type: "json_schema", json_schema: { name: "boat", strict: true, schema } };
      return JSON.parse((await ask(CHAT, target, prompt, { response_format })).text);
    },
  },
  (net) => {
    it("creates embeddings", async () => {
      await net().startEmbedder();
      const provider = await connect("openai:embedding", { url: net().url, key: net().key, model: "tiny-embed" });
      const found = await provider.callEmbeddingApi?.("an atoll is made of coral");
      expect(found?.embedding).toHaveLength(32);
    });
  },
);
testLibrary("promptfoo · responses", { ...libraryOf("openai:responses"), limitError });
testLibrary("promptfoo · completions", {
  ...libraryOf("openai:completion"),
  limitError,
  // The model must continue a text.
  chat: (target, prompt) => ask("openai:completion", target, `${prompt} 3 4`),
});
testLibrary("promptfoo · messages", libraryOf("anthropic:messages"));
