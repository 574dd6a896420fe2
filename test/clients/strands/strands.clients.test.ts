import { Agent, ContextWindowOverflowError, tool } from "@strands-agents/sdk";
import { OpenAIModel, type OpenAIApi } from "@strands-agents/sdk/models/openai";
import { z } from "zod";
import { testLibrary, type Library, type Target } from "../support/library-tests.ts";

/** @param more options of the agent. */
function connect(api: OpenAIApi, { url, key, model: modelId }: Target, more: object = {}): Agent {
  const model = new OpenAIModel({ api, apiKey: key, modelId, clientConfig: { baseURL: `${url}/v1` } });
  return new Agent({ model, printer: false, ...more });
}

const libraryOf = (api: OpenAIApi): Library => ({
  async chat(target, prompt) {
    const result = await connect(api, target).invoke(prompt);
    const usage = result.metrics?.accumulatedUsage;
    return { text: result.toString(), inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 };
  },
  async stream(target, prompt, onText, cancelSignal) {
    let text = "";
    for await (const event of connect(api, target).stream(prompt, { ...(cancelSignal && { cancelSignal }) })) {
      if (event.type !== "modelStreamUpdateEvent" || event.event.type !== "modelContentBlockDeltaEvent") continue;
      if (event.event.delta.type !== "textDelta") continue;
      text += event.event.delta.text;
      onText();
    }
    return { text };
  },
  async loop(target, prompt, { name, description, places, run }) {
    const inputSchema = z.object({ place: z.enum(places) });
    const tools = [tool({ name, description, inputSchema, callback: ({ place }) => run(place) })];
    return (await connect(api, target, { tools }).invoke(prompt)).toString();
  },
  async object(target, prompt, colors) {
    const structuredOutputSchema = z.object({ color: z.enum(colors) });
    return (await connect(api, target, { structuredOutputSchema }).invoke(prompt)).structuredOutput;
  },
  errors: {
    wrongKey: { cause: { status: 401 } },
    unknownModel: { cause: { status: 404 } },
    overContext: { constructor: ContextWindowOverflowError },
  },
});

testLibrary("Strands · chat", libraryOf("chat"));
testLibrary("Strands · responses", libraryOf("responses"));
