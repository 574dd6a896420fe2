import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { expect } from "vitest";
import { z } from "zod";
import { type Completion, type Library, type Target, testLibrary } from "../support/library-tests.ts";

for (const api of ["chat", "responses"] as const) {
  const agentOf = ({ url, key: apiKey, model }: Target, tools = {}): Agent =>
    new Agent({
      id: "pilot",
      name: "Pilot",
      instructions: "Be brief.",
      model: { providerId: "atoll", modelId: model, url: `${url}/v1`, apiKey, api },
      tools,
    });

  const library: Library = {
    async chat(target, prompt) {
      const { text, usage } = await agentOf(target).generate(prompt);
      return completionOf(text, usage);
    },
    async stream(target, prompt, onText, abortSignal) {
      const { textStream, text, usage } = await agentOf(target).stream(prompt, { ...(abortSignal && { abortSignal }) });
      for await (const _piece of textStream) onText();
      return completionOf(await text, await usage);
    },
    async loop(target, prompt, { name, description, places, run }) {
      const inputSchema = z.object({ place: z.enum(places) });
      const tool = createTool({ id: name, description, inputSchema, execute: async ({ place }) => run(place) });
      return (await agentOf(target, { [name]: tool }).generate(prompt)).text;
    },
    async object(target, prompt, colors) {
      const schema = z.object({ color: z.enum(colors) });
      return (await agentOf(target).generate(prompt, { structuredOutput: { schema } })).object;
    },
    errors: {
      wrongKey: { statusCode: 401, message: expect.stringMatching(/key/i) },
      unknownModel: { statusCode: 404, message: expect.stringContaining("no-such-model") },
      overContext: { statusCode: 400, message: expect.stringContaining("context length") },
    },
    limitError: { statusCode: 429, message: expect.stringContaining("unfinished job") },
  };

  testLibrary(`Mastra · ${api}`, library);
}

function completionOf(
  text: string,
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined },
): Completion {
  return { text, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
}
