import { renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ImageJob } from "../../../../island-agent/runtimes/diffusers/image-input.ts";
import { type GraphNode, type GraphValue, makeOnnx } from "../../../support/models/tiny-onnx.ts";
import {
  loadPainter,
  makeCargo,
  makeRuntime,
  NEVER,
  type Painted,
  paintHere,
  PipelineCopies,
} from "./diffusers-support.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

const copies = new PipelineCopies();
afterAll(() => copies[Symbol.dispose]());
const JOB = { prompt: "a red picture", seed: 7, steps: 2, guidance_scale: 2 };
const invalid = (named: string | RegExp) => ({
  name: "JobFailure",
  code: "model_invalid",
  retryable: false,
  message: expect.stringMatching(named),
});

const value = (
  name: string,
  shape: readonly (number | string)[],
  type: GraphValue["type"] = "float32",
): GraphValue => ({
  name,
  type,
  shape,
});
const LATENTS = ["b", 4, "h", "w"];
const STATES = value("encoder_hidden_states", ["b", 77, 16]);
const TIME = value("timestep", [1], "int64");

/** A pipeline whose U-Net is one operator on its latents. */
function withUnet(operator: string, inputs: readonly GraphValue[], output: GraphNode["output"] = "prediction"): string {
  const folder = copies.make();
  const [latents] = inputs;
  const nodes = [{ operator, inputs: [latents?.name ?? ""], output }];
  writeFileSync(path.join(folder, "unet/model.onnx"), makeOnnx(nodes, inputs, [value(output, latents?.shape ?? [])]));
  return folder;
}

const draw = (folder: string, job: ImageJob = JOB): Promise<Painted> => paintHere(folder, job);

describe("load() of a pipeline's folder", () => {
  it.each([
    ["model_index.json", "model_index.json"],
    ["scheduler/scheduler_config.json", "scheduler/scheduler_config.json"],
    ["text_encoder", "text_encoder/model.onnx"],
    ["unet/model.onnx", "unet/model.onnx or transformer/model.onnx"],
    ["vae_decoder/model.onnx", "vae_decoder/model.onnx"],
    ["tokenizer", "tokenizer/tokenizer_config.json"],
    ["tokenizer/vocab.json", "tokenizer/vocab.json"],
    ["tokenizer/merges.txt", "tokenizer/merges.txt"],
  ])("reports a missing %s", async (missing, named) => {
    const folder = copies.make();
    rmSync(path.join(folder, missing), { recursive: true });
    // Another format would replace the missing one.
    for (const part of ["unet", "vae_decoder"]) rmSync(path.join(folder, part, "model_fp16.onnx"), { force: true });
    await expect(draw(folder)).rejects.toMatchObject(invalid(`^The model's folder lacks ${named}$`));
  });

  it.each([
    ["model_index.json", /^model_index\.json is not a JSON object/],
    ["scheduler/scheduler_config.json", /^scheduler\/scheduler_config\.json is not a JSON object/],
    ["text_encoder/model.onnx", /^ONNX Runtime refused text_encoder: /],
    ["unet/model.onnx", /^ONNX Runtime refused unet: /],
    ["unet/config.json", /^unet\/config\.json is not a JSON object/],
    ["vae_decoder/model.onnx", /^ONNX Runtime refused vae_decoder: /],
    ["tokenizer/tokenizer_config.json", /^tokenizer\/tokenizer_config\.json is not a JSON object/],
    ["tokenizer/vocab.json", /^tokenizer\/vocab\.json is not a JSON object/],
  ])("reports garbage in %s, without the folder's path", async (file, named) => {
    const folder = copies.make();
    writeFileSync(path.join(folder, file), "no such thing");
    const failure = await draw(folder).catch((error: unknown) => error);
    expect(failure).toMatchObject(invalid(named));
    expect(String(failure)).not.toContain(folder);
  });

  it("refuses a single file or a missing folder, as estimate() does", async () => {
    const file = path.join(copies.make(), "model_index.json");
    for (const [modelPath, code] of [
      [file, "model_invalid"],
      [`${file}.gone`, "model_unavailable"],
    ] as const) {
      await expect(loadPainter(modelPath)).rejects.toMatchObject({ code });
      await expect(estimateOf(makeRuntime(), makeCargo(), modelPath)).rejects.toMatchObject({ code });
    }
    await expect(makeRuntime().load(makeCargo(), null, NEVER)).rejects.toMatchObject({ code: "model_invalid" });
  });

  it("needs only the configurations of scheduler and tokenizer", async () => {
    const folder = copies.make();
    for (const part of ["unet", "vae_decoder", "text_encoder"]) rmSync(path.join(folder, part, "config.json"));
    await expect(draw(folder, { ...JOB, width: 64, height: 64 })).resolves.toMatchObject({ width: 64 });
  });

  it("accepts a transformer instead of a U-Net", async () => {
    const folder = withUnet("Identity", [value("hidden_states", LATENTS), TIME, STATES]);
    renameSync(path.join(folder, "unet"), path.join(folder, "transformer"));
    await expect(draw(folder, { ...JOB, width: 64, height: 64 })).resolves.toMatchObject({ width: 64 });
  });
});

describe("a job with a hostile U-Net", () => {
  it("fails with the step if the output is NaN", async () => {
    // Some latents are negative.
    const folder = withUnet("Sqrt", [value("sample", LATENTS), TIME, STATES]);
    await expect(draw(folder)).rejects.toMatchObject(invalid("^The image failed at step 1 of 2: .*NaN"));
  });

  it("fails if the U-Net has more channels than the decoder", async () => {
    const folder = withUnet("Identity", [value("sample", ["b", 8, "h", "w"]), TIME, STATES]);
    await expect(draw(folder)).rejects.toMatchObject(invalid("^unet expects 8 channels, but vae_decoder expects 4$"));
  });

  it("fails if the graph has no input for latents", async () => {
    const folder = withUnet("Identity", [value("input_ids", ["b", 77])]);
    await expect(draw(folder)).rejects.toMatchObject(
      invalid("^unet lacks an input for latents; its inputs are input_ids$"),
    );
  });

  it("fails with the name of an unknown input", async () => {
    const folder = withUnet("Identity", [value("sample", LATENTS), TIME, STATES, value("pose", ["b", 3])]);
    await expect(draw(folder)).rejects.toMatchObject(invalid("^unet has an unknown input pose$"));
  });

  it("fails if the output has another size than the latents", async () => {
    const folder = withUnet("Shape", [value("sample", LATENTS), TIME, STATES]);
    await expect(draw(folder)).rejects.toMatchObject(invalid("unet"));
  });

  it("supports only the size for which the U-Net was exported", async () => {
    const folder = withUnet("Identity", [value("sample", ["b", 4, 8, 16]), TIME, STATES]);
    await expect(draw(folder)).resolves.toMatchObject({ width: 128, height: 64 });
    await expect(draw(folder, { ...JOB, width: 64 })).rejects.toMatchObject({
      code: "invalid_input",
      message: "width: this model generates only images of 128 by 64 pixels",
    });
  });

  it("returns the same image if the U-Net was exported for batches of 1", async () => {
    const single = withUnet("Identity", [value("sample", [1, 4, "h", "w"]), TIME, value(STATES.name, [1, 77, 16])]);
    const several = withUnet("Identity", [value("sample", LATENTS), TIME, STATES]);
    expect(await draw(single)).toMatchObject({ data: (await draw(several)).data });
  });

  it("fails with out_of_memory if the U-Net's own size is too large", async () => {
    const folder = copies.make();
    writeFileSync(path.join(folder, "unet/config.json"), JSON.stringify({ sample_size: 1e9 }));
    await expect(draw(folder)).rejects.toMatchObject({ name: "JobFailure", code: "out_of_memory" });
  });
});

describe("a job with a hostile decoder", () => {
  it("fails if the scaled latents exceed all numbers", async () => {
    const folder = copies.make();
    writeFileSync(path.join(folder, "vae_decoder/config.json"), JSON.stringify({ scaling_factor: 1e-300 }));
    await expect(draw(folder)).rejects.toMatchObject(invalid("^vae_decoder returned NaN"));
  });

  it("fails if the output has another size than the image", async () => {
    const folder = copies.make();
    const inputs = [value("latent_sample", LATENTS)];
    const nodes = [{ operator: "Identity", inputs: ["latent_sample"], output: "sample" }];
    writeFileSync(path.join(folder, "vae_decoder/model.onnx"), makeOnnx(nodes, inputs, [value("sample", LATENTS)]));
    await expect(draw(folder)).rejects.toMatchObject(
      invalid(String.raw`^vae_decoder returned the dimensions \[1, 4, 8, 8\] instead of \[1, 3, 64, 64\]$`),
    );
  });
});
