import createInstructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Library, type Target, testLibrary } from "../support/library-tests.ts";

type Mode = "TOOLS" | "JSON_SCHEMA";

const clientOf = ({ url, key }: Target, mode: Mode) =>
  createInstructor({ client: new OpenAI({ apiKey: key, baseURL: `${url}/v1` }), mode });
const messagesOf = (prompt: string) => [{ role: "user" as const, content: prompt }];

const library: Library = {
  async chat(target, prompt) {
    const { choices, usage } = await clientOf(target, "TOOLS").chat.completions.create({
      model: target.model,
      messages: messagesOf(prompt),
    });
    return {
      text: choices[0]?.message.content ?? "",
      inputTokens: usage?.prompt_tokens,
      outputTokens: usage?.completion_tokens,
    };
  },
  async object(target, prompt, colors) {
    return await objectOf(target, prompt, colors, "JSON_SCHEMA");
  },
  errors: {
    wrongKey: { status: 401, message: expect.stringMatching(/key/i) },
    unknownModel: { status: 404, message: expect.stringContaining("no-such-model") },
    overContext: { status: 400, code: "context_length_exceeded" },
  },
};

async function objectOf(
  target: Target,
  prompt: string,
  colors: readonly [string, ...string[]],
  mode: Mode,
): Promise<unknown> {
  const schema = z.object({ color: z.enum(colors as [string, ...string[]]) });
  const { _meta, ...object } = await clientOf(target, mode).chat.completions.create({
    model: target.model,
    messages: messagesOf(prompt),
    response_model: { schema, name: "Boat" },
  });
  return object;
}

testLibrary("Instructor · chat", library, (net) => {
  it("structured output by tools", async () => {
    const target = { url: net().url, key: net().key, model: "tiny-chat" };
    const found = await objectOf(target, "Which color has the boat?", ["red", "blue"], "TOOLS");
    expect(found).toEqual({ color: expect.toBeOneOf(["red", "blue"]) });
  });
});
