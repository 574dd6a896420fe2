import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { describeRuntime } from "../runtime.contract.ts";
import { makeOnnx } from "../../../support/models/tiny-onnx.ts";
import { collectTensors, fixture, loadTiny, makeCargo, makeRuntime, NEVER, TemporaryFolder } from "./onnx-support.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

const folder = new TemporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describeRuntime("onnx", async () => {
  // In q8 each text is its own batch, so that each text has an output.
  const texts = (count: number): object => ({
    input: Array.from({ length: count }, () => "the cat sleeps and the dog barks"),
  });
  return {
    load: () => loadTiny("feature-extraction", "tiny-embedder", { weights: "q8" }),
    short: { input: { ...texts(3) }, resume: null },
    long: { input: { ...texts(2_048) }, resume: null },
    invalid: { input: { input: [] }, resume: null },
  };
});

describe("onnxRuntime()", () => {
  it("returns the versions and the execution providers from probe()", async () => {
    const probe = await makeRuntime().probe(NEVER);
    expect(probe).toMatchObject({
      usable: true,
      version: expect.stringMatching(/^onnxruntime-node \d+\.\d+\.\d+, transformers\.js \d+\.\d+\.\d+, (\w+\+)*cpu$/),
    });
  });

  it("returns the abort reason from probe()", async () => {
    const probe = await makeRuntime().probe(AbortSignal.abort(new Error("shutting down")));
    expect(probe).toEqual({ usable: false, reason: "shutting down" });
  });

  it("estimates at least the memory that a load and a run need", async () => {
    const runtime = makeRuntime();
    const cargo = makeCargo("text-classification");
    const estimate = await estimateOf(runtime, cargo, fixture("tiny-sentiment"));
    await using loaded = await runtime.load(cargo, fixture("tiny-sentiment"), NEVER);
    await loaded.run({ input: { text: "I love this" }, resume: null }, () => {}, NEVER);
    expect(loaded.memory.ramBytes).toBeGreaterThan(50_000_000);
    expect(loaded.memory.ramBytes).toBeLessThan(estimate.ramBytes);
    expect([estimate.vramBytes, loaded.memory.vramBytes]).toEqual([0, 0]);
  });

  it("estimates GPU memory only if a GPU may be used", async () => {
    const estimate = estimateOf(makeRuntime({ device: "cuda" }), makeCargo("fill-mask"), fixture("tiny-mlm"));
    expect((await estimate).vramBytes).toBeGreaterThan(0);
  });

  it("fails as retryable if the device is unavailable", async () => {
    const loading = loadTiny("text-classification", "tiny-sentiment", {}, { device: "dml" });
    await expect(loading).rejects.toMatchObject({
      code: "runtime_unavailable",
      retryable: true,
      message: expect.stringMatching(/^ONNX Runtime cannot use dml here: /),
    });
  });

  it('loads on the best available device with "auto"', async () => {
    await using cargo = await loadTiny("text-classification", "tiny-sentiment", {}, { device: "auto" });
    const { output } = await cargo.run({ input: { text: "I love this" }, resume: null }, () => {}, NEVER);
    expect(output).toMatchObject([{ label: "POSITIVE" }]);
  });

  it.each([
    ["an unknown task", makeCargo("telepathy"), "runtime_unavailable", true],
    ["weights that the model does not have", makeCargo("fill-mask", { weights: "bnb4" }), "model_invalid", false],
  ])("refuses to load %s", async (_name, cargo, code, retryable) => {
    await expect(makeRuntime().load(cargo, fixture("tiny-mlm"), NEVER)).rejects.toMatchObject({ code, retryable });
  });

  it("refuses to load a Cargo without a model", async () => {
    await expect(makeRuntime().load(makeCargo(null), null, NEVER)).rejects.toMatchObject({ code: "model_invalid" });
  });

  it("rejects an aborted load with the signal's reason", async () => {
    const controller = new AbortController();
    const loading = makeRuntime().load(makeCargo("fill-mask"), fixture("tiny-mlm"), controller.signal);
    controller.abort(new Error("evicted"));
    await expect(loading).rejects.toThrow("evicted");
  });
});

describe("a Cargo without a task", () => {
  let cargo: HostedCargo;
  beforeAll(async () => {
    cargo = await loadTiny(null, "raw-tensors");
  });
  afterAll(() => cargo[Symbol.asyncDispose]());

  it("returns each output of the graph", async () => {
    const outputs = await collectTensors(cargo, {
      features: { type: "float32", dims: [3, 2], data: [1, 2, 3, 4, 5, 6] },
      kind: { type: "int64", dims: [3], data: [0, "0", 1] },
    });
    expect(outputs).toEqual({
      scores: { type: "float32", dims: [3, 3], data: [1, 2, 0, 3, 4, 2, 15, 6, 4] },
      best: { type: "int64", dims: [3], data: [1, 1, 0] },
    });
  });

  it("reports ONNX Runtime's error if the sizes do not match", async () => {
    const running = collectTensors(cargo, {
      features: { type: "float32", dims: [2, 2], data: [1, 2, 3, 4] },
      kind: { type: "int64", dims: [3], data: [0, 0, 1] },
    });
    await expect(running).rejects.toMatchObject({
      code: "invalid_input",
      retryable: false,
      message: expect.stringMatching(/^The model rejected these tensors: /),
    });
  });

  it("accepts a single file, 16-bit floats and booleans", async () => {
    const values = (suffix: string) => [
      { name: `half${suffix}`, type: "float16", shape: ["n"] } as const,
      { name: `flag${suffix}`, type: "bool", shape: [] } as const,
    ];
    const nodes = values("").map(({ name }) => ({ operator: "Identity", inputs: [name], output: `${name}_out` }));
    const file = path.join(folder.path, "identities");
    writeFileSync(file, makeOnnx(nodes, values(""), values("_out")));
    await using one = await makeRuntime().load(makeCargo(null), file, NEVER);
    const half = { type: "float16", dims: [3], data: [0.5, -2, null] };
    const flag = { type: "bool", dims: [], data: [true] };
    expect(await collectTensors(one, { half, flag })).toEqual({ half_out: half, flag_out: flag });
  });
});
