import { describe, expect, it } from "vitest";
import { needsApproval } from "../../../coordinator/catalog/approval-rules.ts";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { CHAT_FILE, ONNX_FILE } from "./cargo-builders.ts";

const { price_per_job: _, ...CHAT } = CHAT_FILE;
const { price_per_job: __, ...ONNX } = ONNX_FILE;
const EMBEDDING = { ...CHAT, task: "feature-extraction", example_input: { input: ["a"] } };
const AUDIO = { ...ONNX, onnx_task_type: "automatic-speech-recognition" };
const sizeSchema = { type: "integer", minimum: 1, maximum: 4_096, default: 64 };
const IMAGE = {
  ...ONNX,
  runtime_type: "diffusers",
  onnx_task_type: null,
  input_schema: { type: "object", properties: { width: sizeSchema, height: sizeSchema, steps: sizeSchema } },
  example_input: {},
};

function read(file: object): CargoFile {
  const result = readCargo(file);
  if ("errors" in result) throw new Error(JSON.stringify(result.errors));
  return result.file;
}
function errorsOf(file: object): string[] {
  const result = readCargo(file);
  return "errors" in result ? result.errors.map(({ path, message }) => `${path}: ${message}`) : [];
}

describe("the price of a Cargo's file", () => {
  it.each([
    ["a chat", CHAT, { prompt: 4, completion: 16 }, 0.01],
    [
      "a chat with its own reference size",
      CHAT,
      { prompt: 4, completion: 16, reference: { prompt_tokens: 1_000, completion_tokens: 100 } },
      0.005_6,
    ],
    ["embeddings", EMBEDDING, { prompt: 20 }, 0.01],
    ["images", IMAGE, { megapixel_step: 0.05, reference: { width: 1_000, height: 1_000, steps: 4 } }, 0.2],
    ["speech recognition", AUDIO, { audio_second: 0.001 }, 0.06],
  ])("follows from the prices of %s for the reference size", (__title, file, pricing, price) => {
    expect(read({ ...file, pricing })).toMatchObject({ price_per_job: price, pricing });
    expect(errorsOf({ ...file, pricing, price_per_job: price })).toEqual([]);
  });

  it.each([
    [
      "another price",
      { ...CHAT, price_per_job: 0.02, pricing: { prompt: 4, completion: 16 } },
      "price_per_job: must be 0.01",
    ],
    ["no price for completions", { ...CHAT, pricing: { prompt: 4 } }, "pricing: must name prompt and completion for"],
    [
      "a price for completions of embeddings",
      { ...EMBEDDING, pricing: { prompt: 4, completion: 1 } },
      "must name prompt for",
    ],
    [
      "prices for the tokens of a classifier",
      { ...ONNX, pricing: { prompt: 4 } },
      "pricing: is not allowed for this Cargo",
    ],
    [
      "a price for pixels without sizes",
      { ...IMAGE, input_schema: { type: "object" }, pricing: { megapixel_step: 1 } },
      "is not allowed",
    ],
    ["prices of 0", { ...CHAT, pricing: { prompt: 0, completion: 0 } }, "pricing: must cost something"],
    ["a negative price", { ...CHAT, pricing: { prompt: -1, completion: 16 } }, "pricing.prompt: "],
    [
      "too many decimals",
      { ...CHAT, pricing: { prompt: 0.000_000_1, completion: 16 } },
      "pricing.prompt: must not have more",
    ],
    ["an unknown form", { ...CHAT, pricing: { per_hour: 1 } }, "pricing: must be {prompt, completion}, {prompt}"],
    [
      "an empty reference size",
      { ...EMBEDDING, pricing: { prompt: 1, reference: { prompt_tokens: 0 } } },
      "pricing.reference.prompt_tokens",
    ],
    ["no price", CHAT, "price_per_job: is missing"],
  ])("is rejected with %s", (__title, file, problem) => {
    expect(errorsOf(file)).toEqual([expect.stringContaining(problem)]);
  });
});

describe("needsApproval()", () => {
  const before = read({ ...CHAT, price_per_job: 0.01 });
  const priced = (prompt: number, completion: number, reference?: object): CargoFile =>
    read({ ...CHAT, pricing: { prompt, completion, ...(reference && { reference }) } });

  it("is true if a price rises, even if the price of the reference size does not", () => {
    expect(needsApproval(before, read({ ...CHAT, price_per_job: 0.02 }))).toBe(true);
    expect(needsApproval(before, priced(8, 12))).toBe(true);
    expect(needsApproval(before, priced(400, 1_600, { prompt_tokens: 1, completion_tokens: 1 }))).toBe(true);
  });

  it("is false if the same prices are named in another form, or if they fall", () => {
    expect(needsApproval(before, priced(4, 16))).toBe(false);
    expect(needsApproval(priced(4, 16), before)).toBe(false);
    expect(needsApproval(before, priced(3, 16))).toBe(false);
    expect(needsApproval(before, read({ ...CHAT, price_per_job: 0.005 }))).toBe(false);
  });

  it("is true if another unit has a price", () => {
    const perJob = read({ ...AUDIO, price_per_job: 0.06 });
    const perSecond = read({ ...AUDIO, pricing: { audio_second: 0.001 } });
    expect([needsApproval(perJob, perSecond), needsApproval(perSecond, perJob)]).toEqual([true, true]);
  });
});
