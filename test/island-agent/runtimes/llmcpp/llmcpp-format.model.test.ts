import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { completionFault } from "../../../../coordinator/catalog/completion-schema.ts";
import { CLIENT_SCHEMAS } from "../../../support/http/client-schemas.ts";
import { collect, makeCargo, makeRequest, makeRuntime, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

describe("a completion with response_format", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  const jsonRequest = (schema: Record<string, unknown>, prompt = "Give me a JSON object for a boat.") =>
    makeRequest({ prompt, response_format: { type: "json_schema", json_schema: { name: "answer", schema } } });

  it("json_object returns an object even if the prompt does not request one", async () => {
    const format = { type: "json_object" };
    const run = await collect(
      llm,
      makeRequest({ prompt: "Give me a JSON object for a boat.", response_format: format }),
    );
    expect(JSON.parse(run.text)).toMatchObject({ kind: "boat" });
    expect(run.finishReason).toBe("stop");
  });

  it("json_schema matches the schema", async () => {
    const boat = z.strictObject({
      kind: z.enum(["boat", "ship"]),
      name: z.string().max(8),
      isFast: z.boolean(),
      tags: z.array(z.enum(["sea", "reef"])).max(2),
      owner: z.strictObject({ age: z.int() }).nullable(),
    });
    const run = await collect(llm, jsonRequest(z.toJSONSchema(boat)));
    expect(boat.safeParse(JSON.parse(run.text))).toMatchObject({ success: true });
    expect(run.finishReason).toBe("stop");
  });

  it("json_schema has token counts that sum to the usage", async () => {
    const run = await collect(llm, jsonRequest({ type: "object", properties: { kind: { const: "boat" } } }));
    expect(JSON.parse(run.text)).toEqual({ kind: "boat" });
    expect(run.counts.reduce((sum, count) => sum + count, 0)).toBe(run.usage.completionTokens);
  });

  it("json_schema follows references like those of pydantic", async () => {
    const run = await collect(
      llm,
      jsonRequest({
        $defs: { Color: { title: "Color", enum: ["golden", "blue"], type: "string" } },
        title: "Boat",
        type: "object",
        properties: { color: { allOf: [{ $ref: "#/$defs/Color" }], default: "blue" } },
        required: ["color"],
      }),
    );
    expect(JSON.parse(run.text)).toEqual({ color: expect.stringMatching(/^(golden|blue)$/) });
  });

  it.each(CLIENT_SCHEMAS)("json_schema is valid or truncated: %s", async (_name, schema) => {
    const { text, finishReason } = await collect(
      llm,
      makeRequest({
        prompt: "Give me a JSON object for a boat.",
        max_tokens: 700,
        temperature: 1,
        seed: 5,
        response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } },
      }),
    );
    if (finishReason === "length") return;
    expect({ text, fault: completionFault(schema, JSON.parse(text)) }).toEqual({ text, fault: null });
  });

  it("json_schema is refused, with the path, for an unsupported keyword", async () => {
    const running = collect(llm, jsonRequest({ type: "object", properties: { a: { not: {} } } }));
    await expect(running).rejects.toMatchObject({
      code: "invalid_input",
      retryable: false,
      message: 'response_format.json_schema.schema.properties.a: keyword "not" is not supported',
    });
  });

  it.each([
    [
      "of 990 bounded strings",
      {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 990 }, (_, index) => [`p${index}`, { type: "string", maxLength: 1_010 + index }]),
        ),
      },
      "add up to 1489455",
    ],
    ["of 5,000 values", { enum: Array.from({ length: 5_000 }, (_, index) => `value${index}`) }, "5000 alternatives"],
  ])("json_schema %s is refused, because it would block all other runs", async (_what, schema, message) => {
    await expect(collect(llm, jsonRequest(schema))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  it("json_schema does not affect later runs if it is refused", async () => {
    await expect(collect(llm, jsonRequest({ type: "matrix" }))).rejects.toMatchObject({ code: "invalid_input" });
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9." }));
    expect(run.text).toBe("3, 4, 5, 6, 7, 8, 9.");
  });
});
