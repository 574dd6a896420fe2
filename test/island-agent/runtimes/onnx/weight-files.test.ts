import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findWeights } from "../../../../island-agent/runtimes/onnx/weight-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "atoll-weights-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Files under `onnx/`, by name and size. */
function put(files: Readonly<Record<string, number>>): void {
  mkdirSync(path.join(folder, "onnx"), { recursive: true });
  for (const [name, bytes] of Object.entries(files))
    writeFileSync(path.join(folder, "onnx", name), Buffer.alloc(bytes));
}
const namesOf = (graphs: readonly string[]): string[] => graphs.map((file) => path.relative(folder, file)).sort();

describe("findWeights()", () => {
  it("returns the files of the format, with their external weights", async () => {
    put({
      "model.onnx": 100,
      "model_quantized.onnx": 10,
      "model_quantized.onnx_data": 5,
      "model_q4.onnx": 3,
      "model_q4f16.onnx": 2,
    });
    const found = await findWeights(folder, "q8");
    expect(found).toMatchObject({ format: "q8", bytes: 15 });
    expect(namesOf(found.graphs)).toEqual(["onnx/model_quantized.onnx"]);
    expect(await findWeights(folder, "q4")).toMatchObject({ bytes: 3 });
    expect(await findWeights(folder, "q4f16")).toMatchObject({ bytes: 2 });
    expect(await findWeights(folder, "fp32")).toMatchObject({ bytes: 100 });
  });

  it("omits the decoders that the merged decoder contains", async () => {
    put({
      "encoder_model.onnx": 1,
      "decoder_model.onnx": 10,
      "decoder_with_past_model.onnx": 20,
      "decoder_model_merged.onnx": 4,
    });
    const found = await findWeights(folder, "fp32");
    expect(namesOf(found.graphs)).toEqual(["onnx/decoder_model_merged.onnx", "onnx/encoder_model.onnx"]);
    expect(found.bytes).toBe(5);
  });

  it("returns what is present if no format is named, full precision first", async () => {
    put({ "model_fp16.onnx": 2, "model_quantized.onnx": 1 });
    expect(await findWeights(folder, null)).toMatchObject({ format: "q8" });
    put({ "model.onnx": 4 });
    expect(await findWeights(folder, null)).toMatchObject({ format: "fp32" });
  });

  it("returns a single file as is", async () => {
    put({ "model.onnx": 7 });
    const file = path.join(folder, "onnx/model.onnx");
    expect(await findWeights(file, null)).toEqual({ format: "fp32", graphs: [file], bytes: 7 });
  });

  it("lists the available formats if the requested one is missing", async () => {
    put({ "model.onnx": 1, "model_fp16.onnx": 1 });
    await expect(findWeights(folder, "q8")).rejects.toMatchObject({
      code: "model_invalid",
      retryable: false,
      message: "The model has no q8 weights (onnx/*_quantized.onnx). Available formats: fp32, fp16",
    });
  });

  it("refuses a folder without graphs", async () => {
    await expect(findWeights(folder, null)).rejects.toMatchObject({ code: "model_invalid" });
    await expect(findWeights(folder, "fp32")).rejects.toMatchObject({
      message: expect.stringMatching(/Available formats: none$/),
    });
  });

  it("fails as retryable if the folder does not exist", async () => {
    const missing = findWeights(path.join(folder, "gone"), null);
    await expect(missing).rejects.toMatchObject({ code: "model_unavailable", retryable: true });
  });
});
