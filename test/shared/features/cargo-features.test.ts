import { describe, expect, it } from "vitest";
import type { RuntimeType } from "../../../shared/cargo.ts";
import { CARGO_FEATURES, cargoFeaturesOf } from "../../../shared/features/cargo-features.ts";
import { featuresSchema } from "../../../shared/features/features.ts";

describe("cargoFeaturesOf()", () => {
  it.each([
    ["llmcpp", "text-ranking", {}, ["llmcpp.tasks"]],
    ["llmcpp", undefined, { image: "a" }, []],
    ["diffusers", undefined, { prompt: "a", image: "b" }, ["diffusers.image"]],
    ["coreml", undefined, { prompt: "a", image: "b" }, ["diffusers.image"]],
    ["diffusers", undefined, { prompt: "a", image: null }, []],
    ["onnx", undefined, { image: "b" }, []],
    ["onnx", undefined, { audio: "a", timestamps: "word" }, ["onnx.speech2"]],
    ["onnx", undefined, { audio: "a", chunk_length_s: 20 }, ["onnx.speech2"]],
    ["onnx", undefined, { audio: "a", stride_length_s: 0 }, ["onnx.speech2"]],
    ["onnx", undefined, { audio: "a", timestamps: true }, []],
    ["container", undefined, { timestamps: "word", image: "b" }, []],
  ] as [RuntimeType, string | undefined, object, string[]][])(
    "for %s, task %s, input %j returns %j",
    (runtimeType, task, input, features) => {
      expect(cargoFeaturesOf({ runtimeType, task }, { ...input })).toEqual(features);
    },
  );

  it("includes adapters", () => {
    const adapters = [{ url: "/models/a.gguf", sha256: "a".repeat(64), sizeBytes: null, scale: 1 }];
    expect(cargoFeaturesOf({ runtimeType: "llmcpp", adapters }, {})).toEqual(["llmcpp.lora"]);
  });

  it("includes parts of a model", () => {
    const parts = [{ url: "/models/b.gguf", sha256: "b".repeat(64), sizeBytes: 1 }];
    expect(cargoFeaturesOf({ runtimeType: "llmcpp", parts }, {})).toEqual(["llmcpp.parts"]);
  });

  it("returns only names that a hello may contain", () => {
    expect(featuresSchema.parse([...CARGO_FEATURES])).toEqual(CARGO_FEATURES.toSorted());
  });
});
