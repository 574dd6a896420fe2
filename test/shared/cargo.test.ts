import { describe, expect, it } from "vitest";
import { cacheKeyOf, hasFolderModel, type CargoManifest, type RuntimeType } from "../../shared/cargo.ts";
import { makeManifest } from "../island-agent/builders.ts";

const cargo = (runtimeType: RuntimeType, url: string, override: Partial<CargoManifest> = {}): CargoManifest =>
  makeManifest({ runtimeType, model: { url, sha256: null, sizeBytes: null }, ...override });

describe("hasFolderModel()", () => {
  it.each([
    ["onnx", "hf:owner/repo", true],
    ["diffusers", "hf:owner/repo#v1.0", true],
    ["coreml", "hf:owner/repo", true],
    ["onnx", "/models/tiny/files.json", true],
    ["onnx", "https://models.example/tiny/files.json", true],
    ["onnx", "hf:owner/repo:onnx/model.onnx", false],
    ["onnx", "hf:owner/repo/onnx/model.onnx#main", false],
    ["onnx", "hf:owner/repo/files.json", false],
    ["onnx", "https://models.example/model.onnx", false],
    ["llmcpp", "hf:owner/repo", false],
    ["wasm", "https://models.example/files.json", false],
  ] as const)("returns for %s at %s: %s", (runtimeType, url, expected) => {
    expect(hasFolderModel(cargo(runtimeType, url))).toBe(expected);
  });

  it("returns false without a model", () => {
    expect(hasFolderModel(makeManifest({ runtimeType: "onnx" }))).toBe(false);
  });
});

describe("cacheKeyOf()", () => {
  it("includes the requested weights of a folder, but not of a single file", () => {
    expect(cacheKeyOf(cargo("onnx", "hf:owner/repo"))).toBe("hf:owner/repo");
    expect(cacheKeyOf(cargo("onnx", "hf:owner/repo", { weights: "q8" }))).toBe("hf:owner/repo q8");
    expect(cacheKeyOf(cargo("onnx", "https://models.example/a.onnx", { weights: "q8" }))).toBe(
      "https://models.example/a.onnx",
    );
  });

  it("returns the hash if one is known", () => {
    const model = { url: "/models/tiny/files.json", sha256: "a".repeat(64), sizeBytes: null };
    expect(cacheKeyOf(makeManifest({ runtimeType: "onnx", model, weights: "fp16" }))).toBe(`${"a".repeat(64)} fp16`);
  });

  it("returns the image of a container, and null if nothing is needed", () => {
    const container = { image: "r.example/a:1", digest: null, command: null, gpu: false, network: false };
    expect(cacheKeyOf(makeManifest({ runtimeType: "container", container }))).toBe("r.example/a:1");
    expect(cacheKeyOf(makeManifest())).toBeNull();
  });
});
