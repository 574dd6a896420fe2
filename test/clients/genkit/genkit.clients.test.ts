import {
  compatOaiModelRef,
  defineCompatOpenAIEmbedder,
  defineCompatOpenAIModel,
  openAICompatible,
} from "@genkit-ai/compat-oai";
import { genkit, z, type GenerateResponse, type Genkit } from "genkit";
import type { ModelInfo } from "genkit/model";
import type OpenAI from "openai";
import { expect, it } from "vitest";
import { testLibrary, type Completion, type Library, type Target } from "../support/library-tests.ts";

const NAME = "atoll";
const OBJECTS: ModelInfo = { supports: { multiturn: true, tools: true, output: ["text", "json"], constrained: "all" } };

function connect({ url, key }: Target, info?: ModelInfo): Genkit {
  const pluginOptions = { name: NAME, baseURL: `${url}/v1`, apiKey: key };
  const resolver = (client: OpenAI, kind: string, name: string) => {
    if (kind === "embedder") return defineCompatOpenAIEmbedder({ name, client, pluginOptions });
    const modelRef = compatOaiModelRef({ name, namespace: NAME, ...(info && { info }) });
    return defineCompatOpenAIModel({ name, client, pluginOptions, modelRef });
  };
  return genkit({ plugins: [openAICompatible({ ...pluginOptions, resolver })] });
}

const modelOf = ({ model }: Target) => `${NAME}/${model}`;

const library: Library = {
  async chat(target, prompt) {
    return completionOf(await connect(target).generate({ model: modelOf(target), prompt }));
  },
  async stream(target, prompt, onText, abortSignal) {
    const request = { model: modelOf(target), prompt, ...(abortSignal && { abortSignal }) };
    const { stream, response } = connect(target).generateStream(request);
    for await (const _ of stream) onText();
    return completionOf(await response);
  },
  async loop(target, prompt, { name, description, places, run }) {
    const ai = connect(target);
    const inputSchema = z.object({ place: z.enum([...places]) });
    const tool = ai.defineTool({ name, description, inputSchema, outputSchema: z.string() }, async (input) =>
      run(input.place),
    );
    const { text } = await ai.generate({ model: modelOf(target), prompt, tools: [tool] });
    return text;
  },
  async object(target, prompt, colors) {
    const schema = z.object({ color: z.enum([...colors]) });
    // A schema is only part of the prompt, unless the model is declared to support schemas.
    const { output } = await connect(target, OBJECTS).generate({ model: modelOf(target), prompt, output: { schema } });
    return output;
  },
  errors: {
    wrongKey: { status: "UNAUTHENTICATED", message: expect.stringMatching(/key/i) },
    unknownModel: { status: "UNKNOWN", message: expect.stringContaining("no-such-model") },
    overContext: { status: "INVALID_ARGUMENT", message: expect.stringContaining("context length") },
  },
};

function completionOf({ text, usage }: GenerateResponse): Completion {
  return { text, inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
}

testLibrary("Genkit · chat", library, (net) => {
  it("creates embeddings", async () => {
    await net().startEmbedder();
    const ai = connect({ url: net().url, key: net().key, model: "tiny-chat" });
    const [found] = await ai.embed({ embedder: `${NAME}/tiny-embed`, content: "an atoll is made of coral" });
    expect(found?.embedding).toHaveLength(32);
  });
});
