import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { call, until } from "../support/http/http.ts";
import { LONG_COMPLETION } from "../support/models/long-completion.ts";
import type { Network } from "../support/network/network.ts";

const COUNT = { messages: [{ role: "user" as const, content: "Count from 3 to 9." }], temperature: 0 };
const COUNTED = "3, 4, 5, 6, 7, 8, 9.";

/**
 * Cases of the official client. `open` returns a network whose Island runs tiny-chat. `hasTools`: whether the Island calls
 * tools.
 */
export function describeOpenaiClient(open: () => Network, { hasTools = true } = {}): void {
  let network: Network;
  let client: OpenAI;
  const status = (): Promise<AgentStatus> => network.islandStatus<AgentStatus>("island");

  beforeAll(() => {
    network = open();
    const { key } = network.createAccount("openai@example.com");
    client = new OpenAI({ apiKey: key, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
  });

  describe("the official openai client", () => {
    it("gets a completion that depends on template, tokenizer and weights", async () => {
      const completion = await client.chat.completions.create({ model: "tiny-chat", ...COUNT });
      expect(completion.object).toBe("chat.completion");
      expect(completion.choices[0]?.message).toMatchObject({ role: "assistant", content: COUNTED });
      expect(completion.choices[0]?.finish_reason).toBe("stop");
      const { prompt_tokens, completion_tokens, total_tokens } = completion.usage ?? {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
      };
      expect(prompt_tokens).toBeGreaterThan(5);
      expect(completion_tokens).toBeGreaterThan(10);
      expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    });

    it("streams the same completion in pieces, with usage at the end", async () => {
      const stream = await client.chat.completions.create({
        model: "tiny-chat",
        ...COUNT,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = "";
      let pieces = 0;
      const reasons: (string | null)[] = [];
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of stream) {
        const choice = chunk.choices[0];
        if (choice?.delta.content) {
          text += choice.delta.content;
          pieces += 1;
        }
        if (choice?.finish_reason) reasons.push(choice.finish_reason);
        usage = chunk.usage ?? usage;
      }
      expect(text).toBe(COUNTED);
      expect(pieces).toBeGreaterThan(5);
      expect(reasons).toEqual(["stop"]);
      expect(usage?.completion_tokens).toBeGreaterThan(10);
    });

    it("gets a story of several sentences", async () => {
      const completion = await client.chat.completions.create({
        model: "tiny-chat",
        messages: [{ role: "user", content: "Tell me a story." }],
        temperature: 0,
      });
      expect(completion.choices[0]?.message.content?.split(". ").length).toBeGreaterThanOrEqual(5);
    });

    it("gets JSON that matches its schema", async () => {
      const completion = await client.chat.completions.create({
        model: "tiny-chat",
        messages: [{ role: "user", content: "Give me a boat." }],
        max_tokens: 200,
        temperature: 0,
        response_format: {
          type: "json_schema",
          json_schema: {
            name: "boat",
            schema: {
              type: "object",
              properties: { color: { enum: ["red", "blue"] }, seats: { type: "integer", minimum: 1, maximum: 9 } },
              required: ["color", "seats"],
              additionalProperties: false,
            },
          },
        },
      });
      const boat = JSON.parse(completion.choices[0]?.message.content ?? "") as Record<string, unknown>;
      expect(Object.keys(boat).sort()).toEqual(["color", "seats"]);
      expect(["red", "blue"]).toContain(boat["color"]);
      expect(Number.isInteger(boat["seats"])).toBe(true);
    });

    it.runIf(hasTools)("gets tool calls, streams their parts, and gets a completion after their results", async () => {
      const parameters = { type: "object", properties: { place: { enum: ["reef", "bay"] } }, required: ["place"] };
      const tools = [{ type: "function" as const, function: { name: "get_tide", parameters } }];
      const question = { role: "user" as const, content: "How is the tide?" };
      const request = { model: "tiny-chat", messages: [question], tools, parallel_tool_calls: false, temperature: 0 };
      const { choices } = await client.chat.completions.create({ ...request, tool_choice: "required" });
      const call = choices[0]?.message.tool_calls?.[0];
      if (call?.type !== "function") throw new Error("no call");
      expect([choices[0]?.finish_reason, choices[0]?.message.content]).toEqual(["tool_calls", null]);
      expect(["reef", "bay"]).toContain(JSON.parse(call.function.arguments).place);
      const runner = client.chat.completions.stream({
        ...request,
        tool_choice: { type: "function", function: { name: "get_tide" } },
      });
      let parts = 0;
      for await (const chunk of runner) parts += chunk.choices[0]?.delta.tool_calls?.length ?? 0;
      expect(parts).toBeGreaterThan(2);
      expect((await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0]).toMatchObject({
        type: "function",
        function: { name: "get_tide", arguments: call.function.arguments },
      });
      const { content, tool_calls } = choices[0]?.message ?? {};
      const result = { role: "tool" as const, tool_call_id: call.id, content: "low" };
      const messages = [
        question,
        { role: "assistant" as const, content: content ?? null, tool_calls: tool_calls ?? [] },
        result,
      ];
      const after = await client.chat.completions.create({ ...request, messages, tool_choice: "none", max_tokens: 20 });
      expect(after.choices[0]?.message.content).toEqual(expect.any(String));
    });

    it("ends with length at max_tokens", async () => {
      const completion = await client.chat.completions.create({ ...COUNT, model: "tiny-chat", max_tokens: 3 });
      expect(completion.choices[0]?.finish_reason).toBe("length");
      expect(completion.usage?.completion_tokens).toBe(3);
    });

    it("aborts mid-stream and stops the work on the Island", async () => {
      const before = (await status()).counts;
      const stream = await client.chat.completions.create({
        model: "tiny-chat",
        messages: [{ role: "user", content: "Tell me a story." }],
        response_format: LONG_COMPLETION,
        max_tokens: 900,
        stream: true,
      });
      let id = "";
      for await (const chunk of stream) {
        id = chunk.id;
        if (chunk.choices[0]?.delta.content) break;
      }
      stream.controller.abort();
      const stopped = await until(
        status,
        ({ running, counts }) => running.length === 0 && counts.cancelled > before.cancelled,
        "stopped",
      );
      expect(stopped.counts.completed).toBe(before.completed);
      const job = await until(
        async () => (await call(network.url, client.apiKey, "GET", `/jobs/${id}`)).body.data,
        ({ status: state }) => state === "cancelled",
        "cancelled",
      );
      expect(job.usage.completion_tokens).toBeLessThan(900);
    });

    it("throws AuthenticationError for a wrong key", async () => {
      const wrong = new OpenAI({ apiKey: `ak_${"0".repeat(40)}`, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
      const request = wrong.chat.completions.create({ model: "tiny-chat", ...COUNT });
      await expect(request).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    });

    it("throws NotFoundError with the code for an unknown model", async () => {
      const request = client.chat.completions.create({ model: "gpt-17", ...COUNT });
      await expect(request).rejects.toMatchObject({ status: 404, code: "model_not_found" });
      await expect(request).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    });

    it("lists models and reads one", async () => {
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      expect(ids).toContain("tiny-chat");
      expect((await client.models.retrieve("tiny-chat")).object).toBe("model");
    });

    it("gets an error for a prompt that exceeds the context", async () => {
      const request = client.chat.completions.create({
        model: "tiny-chat",
        messages: [{ role: "user", content: "word ".repeat(4_000) }],
      });
      await expect(request).rejects.toMatchObject({ status: 422, code: "context_length_exceeded" });
    });
  });
}
