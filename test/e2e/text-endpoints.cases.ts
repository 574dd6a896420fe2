import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Network } from "../support/network/network.ts";

const COUNT = "Count from 3 to 9.";
const COUNTED = "3, 4, 5, 6, 7, 8, 9.";

/** Cases of text endpoints other than chats. `open` opens a network whose Island runs tiny-chat. */
export function describeTextEndpoints(open: () => Network): void {
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(() => {
    const { url } = open();
    const { key } = open().createAccount("endpoints@example.com");
    openai = new OpenAI({ apiKey: key, baseURL: `${url}/api/v1`, maxRetries: 0 });
    anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
  });

  describe("the official clients of OpenAI and Anthropic", () => {
    it("complete a text, unstreamed and streamed", async () => {
      const request = { model: "tiny-chat", prompt: "3, 4, 5,", temperature: 0, max_tokens: 8 };
      const whole = await openai.completions.create(request);
      const text = whole.choices[0]?.text ?? "";
      expect(text).not.toBe("");
      let streamed = "";
      for await (const { choices } of await openai.completions.create({ ...request, stream: true })) {
        streamed += choices[0]?.text ?? "";
      }
      expect(streamed).toBe(text);
    });

    it("get a response, read it, continue it and delete it", async () => {
      const first = await openai.responses.create({ model: "tiny-chat", input: COUNT, temperature: 0 });
      expect([first.status, first.output_text]).toEqual(["completed", COUNTED]);
      expect(await openai.responses.retrieve(first.id)).toEqual(first);
      const next = { input: COUNT, previous_response_id: first.id, max_output_tokens: 5 };
      const second = await openai.responses.create({ model: "tiny-chat", ...next });
      expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
      await openai.responses.delete(first.id);
      await expect(openai.responses.retrieve(first.id)).rejects.toMatchObject({ status: 410 });
    });

    it("stream a response, store none with store: false, and run one in the background", async () => {
      const stream = openai.responses.stream({ model: "tiny-chat", input: COUNT, temperature: 0, store: false });
      const { id, output_text: text } = await stream.finalResponse();
      expect(text).toBe(COUNTED);
      const gone = () =>
        openai.responses.retrieve(id).then(
          () => 200,
          ({ status }: { status: number }) => status,
        );
      await expect.poll(gone).toBe(410);
      const { id: later } = await openai.responses.create({ model: "tiny-chat", input: COUNT, background: true });
      await expect.poll(async () => (await openai.responses.retrieve(later)).status).toBe("completed");
    });

    it("get tool calls in a response, unstreamed and streamed, and a response to their results", async () => {
      const parameters = { type: "object", properties: { place: { enum: ["reef", "bay"] } }, required: ["place"] };
      const tools = [{ type: "function" as const, name: "get_tide", parameters, strict: true }];
      const options = { model: "tiny-chat", tools, parallel_tool_calls: false, temperature: 0 };
      const question = { ...options, input: "How is the tide?", tool_choice: "required" as const };
      const first = await openai.responses.create(question);
      const [call] = first.output;
      if (call?.type !== "function_call") throw new Error("no call");
      expect(["reef", "bay"]).toContain(JSON.parse(call.arguments).place);
      const streamed = await openai.responses.stream(question).finalResponse();
      expect(streamed.output).toMatchObject([{ type: "function_call", arguments: call.arguments }]);
      const result = { type: "function_call_output" as const, call_id: call.call_id, output: "low" };
      const next = { ...options, input: [result], previous_response_id: first.id, max_output_tokens: 20 };
      const after = await openai.responses.create({ ...next, tool_choice: "none" });
      expect(after.output).toMatchObject([{ type: "message" }]);
      expect(after.previous_response_id).toBe(first.id);
    });

    it("get an object of a zod schema from a response", async () => {
      const name = z.string().max(12).nullable();
      const Boat = z.object({ color: z.enum(["red", "blue"]), seats: z.int().min(1).max(9), name });
      const { output_parsed: boat } = await openai.responses.parse({
        model: "tiny-chat",
        input: "Give me a boat.",
        text: { format: zodTextFormat(Boat, "boat") },
        temperature: 0,
      });
      expect(Boat.parse(boat)).toEqual(boat);
    });

    it("get a message, unstreamed and streamed, and the token count of its prompt", async () => {
      const messages = [{ role: "user" as const, content: COUNT }];
      const request = { model: "tiny-chat", max_tokens: 60, messages, stop_sequences: ["9"] };
      const whole = await anthropic.messages.create({ ...request, ...{ temperature: 0 } });
      expect(whole.content).toMatchObject([{ type: "text", text: COUNTED.replace("9.", "") }]);
      const stopped = { stop_reason: "stop_sequence", stop_sequence: "9" };
      expect(whole).toMatchObject(stopped);
      const stream = anthropic.messages.stream({ ...request, ...{ temperature: 0 } });
      const { content, usage, ...end } = await stream.finalMessage();
      expect(content).toEqual(whole.content);
      expect(end).toMatchObject(stopped);
      const { input_tokens: counted } = await anthropic.messages.countTokens({ model: "tiny-chat", messages });
      expect([counted, usage.input_tokens]).toEqual([whole.usage.input_tokens, counted]);
    });
  });
}
