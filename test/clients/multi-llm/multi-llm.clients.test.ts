import {
  igniteEngine,
  loadAnthropicModels,
  Message,
  Plugin,
  type ChatModel,
  type LlmEngine,
  type PluginExecutionContext,
  type PluginParameter,
} from "multi-llm-ts";
import { expect, it } from "vitest";
import { z } from "zod";
import { testLibrary, type Completion, type Library, type LibraryTool, type Target } from "../support/library-tests.ts";

interface Api {
  readonly engine: "openai" | "anthropic";
  readonly path: string;
}
const CHAT: Api = { engine: "openai", path: "/v1" };
const MESSAGES: Api = { engine: "anthropic", path: "" };

const configOf = ({ path }: Api, { url, key }: Target) => ({ apiKey: key, baseURL: url + path });
const connect = (api: Api, target: Target): LlmEngine => igniteEngine(api.engine, configOf(api, target));
const ask = (prompt: string): Message[] => [new Message("user", prompt)];

const libraryOf = (api: Api): Library => ({
  async chat(target, prompt) {
    const engine = connect(api, target);
    const { content = "", usage } = await engine.complete(modelOf(engine, target), ask(prompt), { usage: true });
    return { text: content, inputTokens: usage?.prompt_tokens ?? 0, outputTokens: usage?.completion_tokens ?? 0 };
  },
  stream: (target, prompt, onText, abortSignal) =>
    readStream(connect(api, target), target, prompt, onText, abortSignal),
  async loop(target, prompt, tool) {
    const engine = connect(api, target);
    engine.addPlugin(new ToolPlugin(tool));
    return (await readStream(engine, target, prompt, () => undefined)).text;
  },
  errors: {
    wrongKey: { status: 401 },
    unknownModel: { status: 404, message: expect.stringContaining("no-such-model") },
    overContext: { status: 400, message: expect.stringMatching(/context length|too long/) },
  },
});

class ToolPlugin extends Plugin {
  readonly #tool: LibraryTool;

  constructor(tool: LibraryTool) {
    super();
    this.#tool = tool;
  }

  override getName(): string {
    return this.#tool.name;
  }

  override getDescription(): string {
    return this.#tool.description;
  }

  override getRunningDescription(): string {
    return this.getDescription();
  }

  override getParameters(): PluginParameter[] {
    const { places } = this.#tool;
    return [{ name: "place", type: "string", description: "The place", enum: [...places], required: true }];
  }

  override async execute(_: PluginExecutionContext, { place }: { place: string }): Promise<string> {
    return this.#tool.run(place);
  }
}

function modelOf(engine: LlmEngine, { model }: Target): ChatModel {
  return engine.buildModel(model);
}

async function readStream(
  engine: LlmEngine,
  target: Target,
  prompt: string,
  onText: () => void,
  abortSignal?: AbortSignal,
): Promise<Completion> {
  let text = "";
  let [inputTokens, outputTokens] = [0, 0];
  const options = { usage: true, ...(abortSignal && { abortSignal }) };
  for await (const chunk of engine.generate(modelOf(engine, target), ask(prompt), options)) {
    if (chunk.type === "usage") {
      ({ prompt_tokens: inputTokens, completion_tokens: outputTokens } = chunk.usage);
    }
    if (chunk.type !== "content" || chunk.text === "") continue;
    text += chunk.text;
    onText();
  }
  return { text, inputTokens, outputTokens };
}

testLibrary("multi-llm-ts · chat", {
  ...libraryOf(CHAT),
  async object(target, prompt, colors) {
    const engine = connect(CHAT, target);
    const structuredOutput = { name: "boat", structure: z.object({ color: z.enum(colors) }) };
    const { content = "" } = await engine.complete(modelOf(engine, target), ask(prompt), { structuredOutput });
    return JSON.parse(content);
  },
});
testLibrary("multi-llm-ts · messages", libraryOf(MESSAGES), (net) => {
  it("models", async () => {
    const list = await loadAnthropicModels(configOf(MESSAGES, { url: net().url, key: net().key, model: "" }));
    expect(list?.chat.map(({ id, name }) => [id, name])).toContainEqual(["tiny-chat", expect.any(String)]);
  });
});
