import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kvCacheBytes, memoryNeedMb, MEMORY_STEP_MB, targetOf } from "../../../coordinator/catalog/memory-need.ts";
import { parameterCount, workingNeedMb } from "./memory-need.ts";
import { MIB } from "../../../shared/format-bytes.ts";

const LLAMA_8B = {
  fileBytes: 4_920_739_232,
  layers: 32,
  kvHeads: 8,
  headDim: 128,
  vocabulary: 128_256,
  contextTokens: 8_192,
  sequences: 2,
};

describe("kvCacheBytes()", () => {
  it("is 128 KiB per token for Llama 3.1 8B", () => {
    expect(kvCacheBytes({ ...LLAMA_8B, contextTokens: 1, sequences: 1 })).toBe(131_072);
  });
  it("grows with context and sequences", () => {
    expect(kvCacheBytes(LLAMA_8B)).toBe(131_072 * 8_192 * 2);
  });
});

describe("memoryNeedMb()", () => {
  it("counts weights, KV cache and logits as VRAM for the GPU, and the host's part as RAM", () => {
    // 4692.8 weights + 2048 KV cache + 250.5 logits = 6991.3
    expect(memoryNeedMb(LLAMA_8B, "gpu")).toEqual({ ramMb: 1_536, vramMb: 7_040 });
  });
  it("counts everything as RAM for the CPU, with the process", () => {
    // 6991.3 + 192 = 7183.3
    expect(memoryNeedMb(LLAMA_8B, "cpu")).toEqual({ ramMb: 7_232, vramMb: 0 });
  });
  it("is never less than weights and KV cache, and at most one step above the sum", () => {
    const size = fc.integer({ min: 1, max: 200 });
    const shape = fc.record({
      fileBytes: fc.integer({ min: 1, max: 2 ** 36 }),
      layers: size,
      kvHeads: size,
      headDim: size,
      vocabulary: fc.integer({ min: 1, max: 300_000 }),
      contextTokens: fc.integer({ min: 1, max: 131_072 }),
      sequences: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(shape, (model) => {
        const { vramMb } = memoryNeedMb(model, "gpu");
        const leastMb = (model.fileBytes + kvCacheBytes(model)) / MIB;
        const logitsMb = (512 * model.vocabulary * 4) / MIB;
        expect(vramMb % MEMORY_STEP_MB).toBe(0);
        expect(vramMb).toBeGreaterThanOrEqual(leastMb);
        expect(vramMb - leastMb - logitsMb).toBeLessThan(MEMORY_STEP_MB);
      }),
    );
  });
});

describe("workingNeedMb()", () => {
  const weights = { count: 1_048_576_000, format: "fp16" } as const;

  it.each([
    // 2 copies of 2000 MB + 100 + 192 for the process
    ["onnx", { ramMb: 4_352, vramMb: 0 }],
    ["coreml", { ramMb: 2_304, vramMb: 0 }],
    // 2000 + 100 on the GPU; 2000 + 1536 on the host
    ["diffusers", { ramMb: 3_584, vramMb: 2_112 }],
  ] as const)("is computed from the weights for %s", (runtime, need) => {
    expect(workingNeedMb(runtime, 100, weights)).toEqual(need);
  });
  it.each([
    ["wasm", { ramMb: 320, vramMb: 0 }],
    ["container", { ramMb: 128, vramMb: 0 }],
  ] as const)("is the configured maximum for %s", (runtime, need) => {
    expect(workingNeedMb(runtime, 100, { count: 0, format: "fp16" })).toEqual(need);
  });
});

describe("targetOf()", () => {
  it.each([
    ["1.1M", "cpu"],
    ["4.3B", "cpu"],
    ["7.2B", "gpu"],
  ])("maps %s parameters to the %s", (parameters, target) => {
    expect(targetOf(parameterCount(parameters))).toBe(target);
  });
  it("rejects text that is not a number of parameters", () => {
    expect(() => parameterCount("big")).toThrow(RangeError);
  });
});
