import path from "node:path";
import { describe, expect, it } from "vitest";
import { coremlRuntime } from "../../../../island-agent/runtimes/coreml/coreml-runtime.ts";
import type { CargoRuntime } from "../../../../island-agent/runtimes/runtime.ts";
import { ONNX_OUTPUTS, TEXT_TO_IMAGE } from "../../../../shared/onnx-task.ts";
import * as diffusers from "../diffusers/diffusers-support.ts";
import * as onnx from "../onnx/onnx-support.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

const { NEVER } = diffusers;
/** The runtime uses the CPU, so that the tests run on every platform. The caller sets the provider of the adapters. */
const makeRuntime = (platform: string): CargoRuntime =>
  coremlRuntime({ platform, onnx: onnx.makeRuntime(), diffusers: diffusers.makeRuntime() });
const makeCargo = (task: string | null) => onnx.makeCargo(task, { runtimeType: "coreml" });

describe("coremlRuntime()", () => {
  it.each(["linux", "win32"] as const)("is not usable on %s, with the reason", async (platform) => {
    await expect(makeRuntime(platform).probe(NEVER)).resolves.toEqual({
      usable: false,
      reason: "only on macOS",
      isFinal: true,
      isForeign: true,
    });
  });

  it("is usable on macOS if its provider works", async () => {
    await expect(makeRuntime("darwin").probe(NEVER)).resolves.toMatchObject({ usable: true });
    const without = coremlRuntime({
      platform: "darwin",
      onnx: onnx.makeRuntime(),
      diffusers: diffusers.makeRuntime({ device: process.platform === "darwin" ? "dml" : "coreml" }),
    });
    await expect(without.probe(NEVER)).resolves.toMatchObject({ usable: false });
  });

  it("generates an image from a pipeline's folder for the task text-to-image", async () => {
    const folder = diffusers.pipelineFixture("tiny-lcm");
    const runtime = makeRuntime("darwin");
    await using painter = await runtime.load(makeCargo(TEXT_TO_IMAGE), folder, NEVER);
    expect(await diffusers.paint(painter, { prompt: "red" })).toMatchObject({ width: 64, height: 64 });
    const { ramBytes } = await estimateOf(runtime, makeCargo(TEXT_TO_IMAGE), folder);
    expect(ramBytes).toBeGreaterThan(painter.memory?.ramBytes ?? Infinity);
  });

  it("runs any other task like onnx", async () => {
    const runtime = makeRuntime("darwin");
    const cargo = makeCargo("text-classification");
    await using reader = await runtime.load(cargo, onnx.fixture("tiny-sentiment"), NEVER);
    const { output } = await reader.run({ input: { text: "I love this" }, resume: null }, () => {}, NEVER);
    expect(ONNX_OUTPUTS["text-classification"].parse(output)[0]?.label).toBe("POSITIVE");
    const { vramBytes } = await estimateOf(runtime, cargo, onnx.fixture("tiny-sentiment"));
    expect(vramBytes).toBe(0);
  });

  it("accepts tensors without a task", async () => {
    const file = path.join(onnx.fixture("raw-tensors"), "onnx/model.onnx");
    await using tensors = await makeRuntime("darwin").load(makeCargo(null), file, NEVER);
    const inputs = {
      features: { type: "float32", dims: [1, 2], data: [1, 2] },
      kind: { type: "int64", dims: [1], data: [0] },
    };
    const { output } = await tensors.run({ input: { inputs }, resume: null }, () => {}, NEVER);
    expect(output).toMatchObject({ outputs: { scores: { data: [1, 2, 0] } } });
  });
});
