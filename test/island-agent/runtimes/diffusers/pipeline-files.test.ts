import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findPipeline } from "../../../../island-agent/runtimes/diffusers/pipeline-files.ts";
import type { WeightFormat } from "../../../../shared/cargo.ts";

const root = mkdtempSync(path.join(tmpdir(), "atoll-pipeline-"));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;

/** Returns a folder with these files, by name and size in bytes. */
function folderOf(files: Record<string, number>): string {
  const folder = path.join(root, String(made++));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), Buffer.alloc(bytes));
  }
  return folder;
}

async function find(files: Record<string, number>, weights: WeightFormat | null = null) {
  const folder = folderOf(files);
  const { textEncoders, denoiser, decoder, encoder, bytes } = await findPipeline(folder, weights);
  const graphs = [...textEncoders, denoiser, decoder].map((graph) => path.relative(folder, graph.path));
  return { graphs, parts: [...textEncoders, denoiser, decoder].map(({ part }) => part), encoder, bytes };
}

const PLAIN = { "text_encoder/model.onnx": 1, "unet/model.onnx": 10, "vae_decoder/model.onnx": 100 };

describe("findPipeline()", () => {
  it("returns text encoder, U-Net, decoder and an optional encoder, and ignores other parts", async () => {
    const found = await find({ ...PLAIN, "vae_encoder/model.onnx": 1_000, "safety_checker/model.onnx": 10_000 });
    expect(found.parts).toEqual(["text_encoder", "unet", "vae_decoder"]);
    expect([found.encoder?.part, found.bytes]).toEqual(["vae_encoder", 1_111]);
    const drawing = await find(PLAIN);
    expect([drawing.encoder, drawing.bytes]).toEqual([null, 111]);
  });

  it("returns both text encoders of SDXL, and a transformer", async () => {
    const { "unet/model.onnx": _, ...others } = PLAIN;
    const found = await find({ ...others, "text_encoder_2/model.onnx": 1_000, "transformer/model.onnx": 5 });
    expect(found.parts).toEqual(["text_encoder", "text_encoder_2", "transformer", "vae_decoder"]);
    expect(found.bytes).toBe(1_106);
  });

  it("counts the external weights of the selected graph, and no others", async () => {
    const found = await find({
      ...PLAIN,
      "unet/model.onnx_data": 1_000,
      "unet/model.onnx.data": 2_000,
      "unet/weights.pb": 4_000,
      "unet/model_fp16.onnx": 10_000,
      "unet/model_fp16.onnx_data": 20_000,
      "unet/diffusion_pytorch_model.safetensors": 100_000,
    });
    expect(found.bytes).toBe(7_111);
  });

  it("selects the requested format, or full precision for a part without it", async () => {
    const files = { ...PLAIN, "unet/model_fp16.onnx": 5, "vae_decoder/model_quantized.onnx": 6 };
    const fp16 = await find(files, "fp16");
    expect(fp16.graphs).toEqual(["text_encoder/model.onnx", "unet/model_fp16.onnx", "vae_decoder/model.onnx"]);
    const q8 = await find(files, "q8");
    expect(q8.graphs).toEqual(["text_encoder/model.onnx", "unet/model.onnx", "vae_decoder/model_quantized.onnx"]);
    expect((await find(files)).graphs).toEqual(Object.keys(PLAIN));
  });

  it("selects another format for a part that has neither", async () => {
    const { "unet/model.onnx": _, ...others } = PLAIN;
    const found = await find({ ...others, "unet/model_q4.onnx": 5 });
    expect(found.graphs[1]).toBe("unet/model_q4.onnx");
  });
});
