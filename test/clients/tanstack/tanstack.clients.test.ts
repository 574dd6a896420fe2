import { chat, embed, EventType, toolDefinition, type AnyTextAdapter, type JSONSchema } from "@tanstack/ai";
import { createAnthropicChat } from "@tanstack/ai-anthropic";
import { createOpenaiChat, createOpenaiChatCompletions, createOpenaiEmbedding } from "@tanstack/ai-openai";
import { expect, it } from "vitest";
import { testLibrary, type Completion, type Library, type Target } from "../support/library-tests.ts";

type Adapter = (target: Target) => AnyTextAdapter;
// TanStack's types list only the vendors' models.
const asGpt = (model: string) => model as "gpt-5.2";
const asClaude = (model: string) => model as "claude-haiku-4-5";
const asEmbedder = (model: string) => model as "text-embedding-3-small";

const adapters = {
  chat: ({ url, key, model }: Target) => createOpenaiChatCompletions(asGpt(model), key, { baseURL: `${url}/v1` }),
  responses: ({ url, key, model }: Target) => createOpenaiChat(asGpt(model), key, { baseURL: `${url}/v1` }),
  messages: ({ url, key, model }: Target) => createAnthropicChat(asClaude(model), key, { baseURL: url }),
};

const ask = (prompt: string) => ({ messages: [{ role: "user" as const, content: prompt }], debug: false });

async function readStream(
  adapter: AnyTextAdapter,
  prompt: string,
  onText: () => void,
  signal?: AbortSignal,
): Promise<Completion> {
  const abortController = new AbortController();
  signal?.addEventListener("abort", () => abortController.abort());
  let text = "";
  for await (const event of chat({ adapter, ...ask(prompt), abortController })) {
    if (event.type === EventType.RUN_ERROR) throw new Error(event.message);
    if (event.type !== EventType.TEXT_MESSAGE_CONTENT) continue;
    text += event.delta;
    onText();
  }
  return { text };
}

const objectOf = (name: string, choices: readonly string[]): JSONSchema => ({
  type: "object",
  properties: { [name]: { type: "string", enum: [...choices] } },
  required: [name],
  additionalProperties: false,
});

const libraryOf = (connect: Adapter): Library => ({
  chat: (target, prompt) => readStream(connect(target), prompt, () => undefined),
  stream: (target, prompt, onText, signal) => readStream(connect(target), prompt, onText, signal),
  async loop(target, prompt, { name, description, places, run }) {
    const inputSchema = objectOf("place", places);
    const tool = toolDefinition({ name, description, inputSchema }).server((input) =>
      run((input as { place: string }).place),
    );
    return await chat({ adapter: connect(target), ...ask(prompt), tools: [tool], stream: false });
  },
  async object(target, prompt, colors) {
    const outputSchema = objectOf("color", colors);
    return await chat({ adapter: connect(target), ...ask(prompt), outputSchema });
  },
  errors: {
    wrongKey: { message: expect.stringMatching(/key/i) },
    unknownModel: { message: expect.stringContaining("no-such-model") },
    overContext: { message: expect.stringMatching(/context length|too long/) },
  },
});

testLibrary("TanStack AI · chat", libraryOf(adapters.chat), (net) => {
  it("creates embeddings", async () => {
    await net().startEmbedder();
    const adapter = createOpenaiEmbedding(asEmbedder("tiny-embed"), net().key, {
      baseURL: `${net().url}/v1`,
    });
    const { embeddings } = await embed({ adapter, input: "an atoll is made of coral" });
    expect(embeddings.map(({ vector }) => vector.length)).toEqual([32]);
  });
});
testLibrary("TanStack AI · responses", libraryOf(adapters.responses));
testLibrary("TanStack AI · messages", libraryOf(adapters.messages));
