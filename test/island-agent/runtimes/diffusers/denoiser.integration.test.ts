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

/** A network of one channel that says the sum of its latents, in `batch`, and of another input. */
async function adding(other: GraphValue, batch: string | number = "b", sample = "sample") {
  const inputs = [
    ...new Map([value(sample, [batch, 1, 1, 6]), STATES, other].map((each) => [each.name, each])).values(),
  ];
  const nodes = [{ operator: "Add", inputs: [sample, other.name], output: "said" }];
  const file = path.join(root, String(made++));
  writeFileSync(file, makeOnnx(nodes, inputs, [value("said", [batch, 1, "h", 6])]));
  const graph = await PipelineGraph.open("unet", file, { modelPath: root, providers: ["cpu"], threads: 1 });
  let runs = 0;
  const run = graph.run.bind(graph);
  graph.run = (feeds) => {
    runs++;
    return run(feeds);
  };
  return { denoiser: new Denoiser(graph, 1), runs: () => runs };
}

const saidOf = async ({ denoiser }: { denoiser: Denoiser }, fill: number, context: object = {}) => {
  const [modelOutput] = await denoiser.predict(LATENTS, 7, [conditioning(fill)], { ...CONTEXT, ...context });
  return [...(modelOutput ?? [])];
};

describe("Denoiser", () => {
  it("tells the network the text, the pooled text and the time", async () => {
    expect(await saidOf(await adding(STATES), 10)).toEqual([10, 11, 12, 13, 14, 15]);
    expect(await saidOf(await adding(value("text_embeds", ["b", 6])), 10)).toEqual([-10, -9, -8, -7, -6, -5]);
    for (const shape of [[], [1], ["steps"], [6]])
      expect(await saidOf(await adding(value("timestep", shape)), 10)).toEqual([7, 8, 9, 10, 11, 12]);
  });

  it("tells it height before width, no crop, and height and width again", async () => {
    expect(await saidOf(await adding(value("time_ids", ["b", 6])), 0)).toEqual([8, 49, 2, 3, 12, 53]);
  });

  it("tells it the guidance, as wide as the graph or the configuration has it", async () => {
    const guided = await adding(value("timestep_cond", ["b", 6]));
    expect(guided.denoiser.guidanceWidth(256)).toBe(6);
    expect(await saidOf(guided, 0, { guidance: Float32Array.of(5, 4, 3, 2, 1, 0) })).toEqual([5, 5, 5, 5, 5, 5]);
    expect((await adding(value("timestep_cond", ["b", "width"]))).denoiser.guidanceWidth(256)).toBe(256);
    expect((await adding(STATES)).denoiser.guidanceWidth(256)).toBeNull();
  });

  it.each([
    ["b", 1],
    [1, 2],
  ])("asks about two texts, batch being %s, in %i run(s), and keeps the answers apart", async (batch, expected) => {
    const { denoiser, runs } = await adding(value("encoder_hidden_states", [batch, 1, 1, 6]), batch);
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

  it("tells a network for inpainting what comes after the latents", async () => {
    const file = path.join(root, String(made++));
    // The sum of all: of one latent, its mask and what is kept.
    const nodes = [{ operator: "ReduceSum", inputs: ["sample"], output: "said" }];
    writeFileSync(file, makeOnnx(nodes, [value("sample", ["b", 3, 1, 1])], [value("said", [1, 1, 1, 1])]));
    const graph = await PipelineGraph.open("unet", file, { modelPath: root, providers: ["cpu"], threads: 1 });
    const denoiser = new Denoiser(graph, 1);
    expect(denoiser.isInpainting).toBe(true);
    const context = { ...CONTEXT, latentSize: { width: 1, height: 1 }, extraChannels: Float32Array.of(10, 100) };
    const [said] = await denoiser.predict(Float32Array.of(3), 7, [conditioning(0)], context);
    expect([...(said ?? [])]).toEqual([113]);
  });

  it("calls latents as transformers do where the graph does", async () => {
    expect(await saidOf(await adding(STATES, "b", "hidden_states"), 1)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
