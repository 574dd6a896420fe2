import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isProblem } from "../../../island-agent/doctor/examination.ts";
import { measureMatrix, measureTokens } from "../../../island-agent/doctor/measure-speed.ts";
import { llmcppRuntime } from "../../../island-agent/runtimes/llmcpp/llmcpp-runtime.ts";
import { onnxRuntime } from "../../../island-agent/runtimes/onnx/onnx-runtime.ts";
import { systemClock } from "../../../shared/clock.ts";

const TINY_ISLANDER = join(import.meta.dirname, "..", "..", "..", "catalog", "models", "tiny-islander.gguf");

describe("measureTokens()", () => {
  const runtime = llmcppRuntime({ threads: 1, gpu: false, sequences: 1, clock: systemClock });

  it("measures a real model", async () => {
    const rate = await measureTokens(runtime, TINY_ISLANDER, systemClock);
    expect(rate).toEqual({ tokensPerSecond: expect.any(Number), model: "tiny-islander.gguf" });
    expect(isProblem(rate) ? 0 : rate.tokensPerSecond).toBeGreaterThan(0);
  });

  it("reports a measurement that takes too long", async () => {
    const rate = await measureTokens(runtime, TINY_ISLANDER, systemClock, 1);
    expect(rate).toEqual({ problem: "the measurement took longer than 0.001 s" });
  });

  it("reports why a model could not be measured", async () => {
    const rate = await measureTokens(runtime, import.meta.filename, systemClock);
    expect(rate).toEqual({ problem: expect.stringContaining("not a readable GGUF file") });
  });
});

describe("measureMatrix()", () => {
  it("reports a measurement that takes too long", async () => {
    const runtime = onnxRuntime({ threads: 1, clock: systemClock });
    expect(await measureMatrix(runtime, systemClock, 1)).toEqual({
      problem: "the measurement took longer than 0.001 s",
    });
  });

  it("measures the speed of ONNX Runtime", async () => {
    const rate = await measureMatrix(onnxRuntime({ threads: 1, clock: systemClock }), systemClock);
    expect(rate).toEqual({ gigaflops: expect.any(Number), size: 512 });
    expect(isProblem(rate) ? 0 : rate.gigaflops).toBeGreaterThan(0);
  });
});
