import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Denoiser } from "../../../../island-agent/runtimes/diffusers/denoiser.ts";
import { PipelineGraph } from "../../../../island-agent/runtimes/diffusers/pipeline-graph.ts";
import { type GraphValue, makeOnnx } from "../../../support/models/tiny-onnx.ts";

const root = mkdtempSync(path.join(tmpdir(), "atoll-denoiser-"));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;

const value = (name: string, shape: GraphValue["shape"], type: GraphValue["type"] = "float32"): GraphValue => ({
  name,
  type,
  shape,
});
const STATES = value("encoder_hidden_states", ["b", 1, 6]);
const CONTEXT = { latentSize: { width: 6, height: 1 }, imageSize: { width: 48, height: 8 }, guidance: null };
const LATENTS = Float32Array.of(0, 1, 2, 3, 4, 5);
const conditioning = (fill: number) => ({
  states: { data: new Float32Array(6).fill(fill), dims: [1, 1, 6] },
  pooled: { data: new Float32Array(6).fill(-fill), dims: [1, 6] },
  textTokens: 0,
});

/** A network of one channel that returns the sum of its latents and of another input. */
async function addingNetwork(other: GraphValue, batch: string | number = "b", sample = "sample") {
  const inputs = [
    ...new Map([value(sample, [batch, 1, 1, 6]), STATES, other].map((each) => [each.name, each])).values(),
  ];
  const nodes = [{ operator: "Add", inputs: [sample, other.name], output: "sum" }];
  const file = path.join(root, String(made++));
  writeFileSync(file, makeOnnx(nodes, inputs, [value("sum", [batch, 1, "h", 6])]));
  const graph = await PipelineGraph.open("unet", file, { modelPath: root, providers: ["cpu"], threads: 1 });
  let runs = 0;
  const run = graph.run.bind(graph);
  graph.run = (feeds) => {
    runs++;
    return run(feeds);
  };
  return { denoiser: new Denoiser(graph, 1), runs: () => runs };
}

const predictionOf = async ({ denoiser }: { denoiser: Denoiser }, fill: number, context: object = {}) => {
  const [modelOutput] = await denoiser.predict(LATENTS, 7, [conditioning(fill)], { ...CONTEXT, ...context });
  return [...(modelOutput ?? [])];
};

describe("Denoiser", () => {
  it("passes the text, the pooled text and the timestep to the network", async () => {
    expect(await predictionOf(await addingNetwork(STATES), 10)).toEqual([10, 11, 12, 13, 14, 15]);
    expect(await predictionOf(await addingNetwork(value("text_embeds", ["b", 6])), 10)).toEqual([
      -10, -9, -8, -7, -6, -5,
    ]);
    for (const shape of [[], [1], ["steps"], [6]])
      expect(await predictionOf(await addingNetwork(value("timestep", shape)), 10)).toEqual([7, 8, 9, 10, 11, 12]);
  });

  it("passes height and width, no crop, and height and width again as time_ids", async () => {
    expect(await predictionOf(await addingNetwork(value("time_ids", ["b", 6])), 0)).toEqual([8, 49, 2, 3, 12, 53]);
  });

  it("passes the guidance, in the width of the graph or of the configuration", async () => {
    const guided = await addingNetwork(value("timestep_cond", ["b", 6]));
    expect(guided.denoiser.guidanceWidth(256)).toBe(6);
    expect(await predictionOf(guided, 0, { guidance: Float32Array.of(5, 4, 3, 2, 1, 0) })).toEqual([5, 5, 5, 5, 5, 5]);
    expect((await addingNetwork(value("timestep_cond", ["b", "width"]))).denoiser.guidanceWidth(256)).toBe(256);
    expect((await addingNetwork(STATES)).denoiser.guidanceWidth(256)).toBeNull();
  });

  it.each([
    ["b", 1],
    [1, 2],
  ])("predicts for two texts with batch size %s in %i run(s), and separates the results", async (batch, expected) => {
    const { denoiser, runs } = await addingNetwork(value("encoder_hidden_states", [batch, 1, 1, 6]), batch);
    const wide = [1, 2].map((fill) => ({
      ...conditioning(fill),
      states: { data: new Float32Array(6).fill(fill), dims: [1, 1, 1, 6] },
    }));
    const modelOutput = await denoiser.predict(LATENTS, 7, wide, CONTEXT);
    expect(modelOutput.map((each) => [...each])).toEqual([
      [1, 2, 3, 4, 5, 6],
      [2, 3, 4, 5, 6, 7],
    ]);
    expect(runs()).toBe(expected);
  });

  it("appends the extra channels to the latents of an inpainting network", async () => {
    const file = path.join(root, String(made++));
    // The output is the sum of one latent, its mask and its masked image.
    const nodes = [{ operator: "ReduceSum", inputs: ["sample"], output: "sum" }];
    writeFileSync(file, makeOnnx(nodes, [value("sample", ["b", 3, 1, 1])], [value("sum", [1, 1, 1, 1])]));
    const graph = await PipelineGraph.open("unet", file, { modelPath: root, providers: ["cpu"], threads: 1 });
    const denoiser = new Denoiser(graph, 1);
    expect(denoiser.isInpainting).toBe(true);
    const context = { ...CONTEXT, latentSize: { width: 1, height: 1 }, extraChannels: Float32Array.of(10, 100) };
    const [sum] = await denoiser.predict(Float32Array.of(3), 7, [conditioning(0)], context);
    expect([...(sum ?? [])]).toEqual([113]);
  });

  it("supports the input name hidden_states of transformers", async () => {
    expect(await predictionOf(await addingNetwork(STATES, "b", "hidden_states"), 1)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
