import * as ai5 from "ai-5";
import * as ai6 from "ai-6";
import * as ai7 from "ai-7";
import { createAnthropic as createAnthropic2 } from "anthropic-2";
import { createAnthropic as createAnthropic3 } from "anthropic-3";
import { createAnthropic as createAnthropic4 } from "anthropic-4";
import { expect } from "vitest";
import { z } from "zod";
import { type Library, type Target, testLibrary } from "../support/library-tests.ts";

type Ai = typeof ai7;
type CreateAnthropic = typeof createAnthropic4;

const MAJORS: readonly (readonly [major: number, ai: unknown, create: unknown])[] = [
  [5, ai5, createAnthropic2],
  [6, ai6, createAnthropic3],
  [7, ai7, createAnthropic4],
];

for (const [major, ai, create] of MAJORS) {
  // The functions used here are the same in each major.
  testLibrary(`AI SDK ${major} · messages`, libraryOf(ai as Ai, create as CreateAnthropic));
}

function libraryOf(ai: Ai, createAnthropic: CreateAnthropic): Library {
  const modelOf = ({ url, key, model }: Target) => createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model);
  return {
    async chat(target, prompt) {
      const { text, usage } = await ai.generateText({ model: modelOf(target), prompt });
      return { text, inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
    },
    async stream(target, prompt, onText, abortSignal) {
      const result = ai.streamText({ model: modelOf(target), prompt, ...(abortSignal && { abortSignal }) });
      let text = "";
      for await (const piece of result.textStream) {
        text += piece;
        onText();
      }
      const usage = await result.usage;
      return { text, inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
    },
    async loop(target, prompt, { name, description, places, run }) {
      const inputSchema = z.object({ place: z.enum(places) });
      const tool = ai.tool({ description, inputSchema, execute: ({ place }) => run(place) });
      const stopWhen = ai.stepCountIs(3);
      const { text } = await ai.generateText({ model: modelOf(target), prompt, tools: { [name]: tool }, stopWhen });
      return text;
    },
    async object(target, prompt, colors) {
      const schema = z.object({ color: z.enum(colors) });
      const { object } = await ai.generateObject({ model: modelOf(target), prompt, schema });
      return object;
    },
    errors: {
      wrongKey: { name: "AI_APICallError", statusCode: 401, message: expect.stringMatching(/key/i) },
      unknownModel: { name: "AI_APICallError", statusCode: 404, message: expect.stringContaining("no-such-model") },
      overContext: { name: "AI_APICallError", statusCode: 400, message: expect.stringContaining("prompt is too long") },
    },
  };
}
