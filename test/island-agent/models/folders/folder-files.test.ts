import { describe, expect, it } from "vitest";
import {
  assertSafePaths,
  chooseFolderFiles,
  folderLayoutOf,
} from "../../../../island-agent/models/folders/folder-files.ts";
import type { WeightFormat } from "../../../../shared/cargo.ts";
import { makeManifest } from "../../builders.ts";

const listOf = (...paths: string[]) => paths.map((path) => ({ path }));
const choose = (layout: "onnx" | "diffusers", weights: WeightFormat | null, ...paths: string[]): string[] =>
  chooseFolderFiles(layout, weights, listOf(...paths))
    .map(({ path }) => path)
    .sort();

const SETTINGS = ["config.json", "merges.txt", "preprocessor_config.json", "tokenizer.json"];
const UNUSED = [
  ".gitattributes",
  "README.md",
  "flax_model.msgpack",
  "model.safetensors",
  "model.safetensors.index.json",
  "pytorch_model.bin",
  "openvino/config.json",
];

describe("chooseFolderFiles() of an onnx folder", () => {
  it("chooses the settings and the graphs of the format with their weights files, and no files of other programs", () => {
    const graphs = [
      "model.onnx",
      "model.onnx_data",
      "model_quantized.onnx",
      "model_fp16.onnx",
      "model_fp16.onnx_data_1",
    ];
    const paths = [...SETTINGS, ...UNUSED, ...graphs.map((name) => `onnx/${name}`), "onnx/sub/model.onnx"];
    expect(choose("onnx", "fp16", ...paths)).toEqual([
      ...SETTINGS.slice(0, 2),
      "onnx/model_fp16.onnx",
      "onnx/model_fp16.onnx_data_1",
      ...SETTINGS.slice(2),
    ]);
    expect(choose("onnx", "q8", ...paths)).toContain("onnx/model_quantized.onnx");
    expect(choose("onnx", "fp32", ...paths).filter((path) => path.startsWith("onnx/"))).toEqual([
      "onnx/model.onnx",
      "onnx/model.onnx_data",
    ]);
  });

  it.each([
    ["fp32", ""],
    ["fp16", "_fp16"],
    ["int8", "_int8"],
    ["uint8", "_uint8"],
    ["q8", "_quantized"],
    ["q4", "_q4"],
    ["q4f16", "_q4f16"],
    ["bnb4", "_bnb4"],
  ] as const)("selects %s by the suffix %j", (weights, suffix) => {
    const all = ["", "_fp16", "_int8", "_uint8", "_quantized", "_q4", "_q4f16", "_bnb4"];
    expect(choose("onnx", weights, ...all.map((each) => `onnx/model${each}.onnx`))).toEqual([
      `onnx/model${suffix}.onnx`,
    ]);
  });

  it("selects full precision, or 8 bits if it is missing, without a wanted format", () => {
    expect(choose("onnx", null, "onnx/model_q4.onnx", "onnx/model_quantized.onnx")).toEqual([
      "onnx/model_quantized.onnx",
    ]);
    expect(choose("onnx", null, "onnx/model.onnx", "onnx/model_quantized.onnx")).toEqual(["onnx/model.onnx"]);
  });

  it("excludes decoders that the merged one replaces, and includes voices", () => {
    const graphs = ["decoder_model", "decoder_model_merged", "decoder_with_past_model", "encoder_model"];
    expect(choose("onnx", null, ...graphs.map((name) => `onnx/${name}.onnx`), "voices/F1.bin")).toEqual([
      "onnx/decoder_model_merged.onnx",
      "onnx/encoder_model.onnx",
      "voices/F1.bin",
    ]);
  });

  it("names the available formats when the wanted one is missing", () => {
    expect(() => choose("onnx", "q4", "onnx/model.onnx", "onnx/model_fp16.onnx")).toThrow(
      expect.objectContaining({
        code: "model_invalid",
        message: expect.stringContaining("Available formats: fp32, fp16"),
      }),
    );
    expect(() => choose("onnx", null, "config.json")).toThrow("lacks a graph");
  });
});

describe("chooseFolderFiles() of a text-to-image pipeline", () => {
  const PIPELINE = [
    "model_index.json",
    "scheduler/scheduler_config.json",
    "text_encoder/config.json",
    "text_encoder/model.onnx",
    "tokenizer/merges.txt",
    "tokenizer/vocab.json",
    "unet/model.onnx",
    "unet/model.onnx_data",
    "vae_decoder/model.onnx",
    "vae_encoder/model.onnx",
  ];
  const UNUSED = [
    "safety_checker/model.onnx",
    "unet/diffusion_pytorch_model.safetensors",
    "unet/openvino_model.bin",
    "unet/flax_model.msgpack",
    "onnx/model.onnx",
    "sd_xl_base_1.0.safetensors",
  ];

  it("chooses the settings of all components, and the graphs of the used ones", () => {
    expect(choose("diffusers", "fp32", ...PIPELINE, ...UNUSED)).toEqual(PIPELINE);
  });

  it("chooses a component's plain graph if it has none of the format", () => {
    const paths = ["text_encoder/model.onnx", "unet/model.onnx", "unet/model_fp16.onnx", "unet/weights.pb"];
    expect(choose("diffusers", "fp16", ...paths)).toEqual([
      "text_encoder/model.onnx",
      "unet/model_fp16.onnx",
      "unet/weights.pb",
    ]);
  });

  it("requires a graph", () => {
    expect(() => choose("diffusers", null, "model_index.json")).toThrow("lacks the graph");
  });
});

describe("folderLayoutOf()", () => {
  it.each([
    ["onnx", "fill-mask", "onnx"],
    ["diffusers", null, "diffusers"],
    ["coreml", "depth-estimation", "onnx"],
    ["coreml", "text-to-image", "diffusers"],
  ] as const)("returns for %s with the task %s the layout %s", (runtimeType, onnxTaskType, layout) => {
    expect(folderLayoutOf(makeManifest({ runtimeType, onnxTaskType }))).toBe(layout);
  });
});

describe("assertSafePaths()", () => {
  it.each([
    "../evil.json",
    "a/../../evil.json",
    "/etc/passwd",
    "a//b",
    "",
    "a/",
    "./a",
    "..\\evil.json",
    "C:/evil.json",
    "a.json:stream",
    "a\u0000.json",
    "a\u001b[2J.json",
    "a\u0085.json",
    "a.json.",
    "a ",
    "nul",
    "onnx/COM1.onnx",
    "a#b.json",
    "a?b.json",
    `${"a/".repeat(300)}b.json`,
    "\ud800.json",
  ])("refuses %j", (path) => {
    expect(() => assertSafePaths([path])).toThrow(expect.objectContaining({ code: "model_invalid" }));
  });

  it("accepts usual names of model files", () => {
    assertSafePaths([
      "config.json",
      "onnx/model_q4f16.onnx_data_1",
      ".hidden",
      "voices/Zoë 1.bin",
      "a..b.json",
      "console.json",
    ]);
  });

  it("refuses two files whose paths are equal, or differ only in case", () => {
    expect(() => assertSafePaths(["a.json", "A.json"])).toThrow("two files");
    expect(() => assertSafePaths(["onnx", "ONNX/model.onnx"])).toThrow("needs a folder");
  });

  it("refuses too many files", () => {
    const paths = Array.from({ length: 2_001 }, (_, index) => `${index}.json`);
    assertSafePaths(paths.slice(1));
    expect(() => assertSafePaths(paths)).toThrow("more than 2000 files");
  });
});
