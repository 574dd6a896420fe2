import {
  Agent,
  getDefaultModelSettings,
  OpenAIConversationsSession,
  OpenAIProvider,
  Runner,
  tool,
  type AgentInputItem,
} from "@openai/agents";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Completion, type Library, type Target, testLibrary } from "../support/library-tests.ts";
import { DEFAULT_TEXT } from "../support/scripted-island.ts";

/** Default model of an agent. The SDK sends the settings of this model. */
const DEFAULT_MODEL = "gpt-5.6-luna";

for (const api of ["chat", "responses"] as const) {
  const runnerOf = ({ url, key: apiKey }: Target): Runner =>
    new Runner({
      modelProvider: new OpenAIProvider({ apiKey, baseURL: `${url}/v1`, useResponses: api === "responses" }),
    });
  const agentOf = ({ model }: Target) => new Agent({ name: "Pilot", model });

  const library: Library = {
    async chat(target, prompt) {
      return completionOf(await runnerOf(target).run(agentOf(target), prompt));
    },
    async stream(target, prompt, onText, signal) {
      const result = await runnerOf(target).run(agentOf(target), prompt, { stream: true, ...(signal && { signal }) });
      for await (const _piece of result.toTextStream()) onText();
      await result.completed;
      return completionOf(result);
    },
    async loop(target, prompt, { name, description, places, run }) {
      const parameters = z.object({ place: z.enum(places) });
      const tools = [tool({ name, description, parameters, execute: ({ place }) => run(place) })];
      const agent = new Agent({ name: "Pilot", model: target.model, tools });
      const { finalOutput } = await runnerOf(target).run(agent, prompt);
      return finalOutput ?? "";
    },
    async object(target, prompt, colors) {
      const outputType = z.object({ color: z.enum(colors) });
      const agent = new Agent({ name: "Pilot", model: target.model, outputType });
      const { finalOutput } = await runnerOf(target).run(agent, prompt);
      return finalOutput;
    },
    errors: {
      wrongKey: { status: 401, message: expect.stringMatching(/key/i) },
      unknownModel: { status: 404, message: expect.stringContaining("no-such-model") },
      overContext: { status: 400, code: "context_length_exceeded" },
    },
  };

  testLibrary(`OpenAI Agents SDK · ${api}`, library, (net) => {
    const target = (): Target => ({ url: net().url, key: net().key, model: "scripted" });

    it("accepts the history of a result", async () => {
      const runner = runnerOf(target());
      const agent = agentOf(target());
      const { history } = await runner.run(agent, "Hello");
      const next: AgentInputItem[] = [...history, { role: "user", content: "And now?" }];
      expect((await runner.run(agent, next)).finalOutput).toBe(DEFAULT_TEXT);
      expect(
        net()
          .scripted.inputs.at(-1)
          ?.messages?.map(({ role, content }) => [role, content]),
      ).toEqual([
        ["user", "Hello"],
        ["assistant", DEFAULT_TEXT],
        ["user", "And now?"],
      ]);
    });

    it("sends the settings of its default model", async () => {
      const agent = new Agent({
        name: "Pilot",
        model: "scripted",
        modelSettings: getDefaultModelSettings(DEFAULT_MODEL),
      });
      expect((await runnerOf(target()).run(agent, "Hello")).finalOutput).toBe(DEFAULT_TEXT);
      const ignored = net().recorder.requests[0]?.responseHeaders["atoll-ignored"];
      expect(ignored).toMatch(api === "responses" ? /\btext\.verbosity\b/ : /\bverbosity\b/);
    });

    it("fails with a 404 that names previous_response_id for OpenAI conversations", async () => {
      const { url, key: apiKey } = target();
      const session = new OpenAIConversationsSession({ apiKey, baseURL: `${url}/v1` });
      const error = { status: 404, message: expect.stringContaining("previous_response_id") };
      await expect(runnerOf(target()).run(agentOf(target()), "Hello", { session })).rejects.toMatchObject(error);
      expect(net().recorder.requests.map(({ status }) => status)).toEqual([404]);
    });
  });
}

function completionOf({
  finalOutput,
  state,
}: {
  finalOutput?: string | undefined;
  state: { usage: { inputTokens: number; outputTokens: number } };
}): Completion {
  const { inputTokens, outputTokens } = state.usage;
  return { text: finalOutput ?? "", inputTokens, outputTokens };
}
