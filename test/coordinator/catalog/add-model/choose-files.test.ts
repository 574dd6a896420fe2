import { describe, expect, it } from "vitest";
import { chooseFiles, labelOf } from "../../../../coordinator/catalog/add-model/choose-files.ts";

const REPOSITORY = [
  "BF16/x-BF16-00001-of-00002.gguf",
  "BF16/x-BF16-00002-of-00002.gguf",
  "README.md",
  "imatrix.gguf",
  "mmproj-BF16.gguf",
  "mmproj-F16.gguf",
  "x-IQ4_XS.gguf",
  "x-Q4_0.gguf",
  "x-Q4_K_M.gguf",
  "x-Q8_0.gguf",
  "x-UD-Q2_K_XL.gguf",
];
const choose = (paths: readonly string[], quantization: string | null = null, file: string | null = null) => {
  const chosen = chooseFiles(
    paths.map((path) => ({ path })),
    { file, quantization },
    "hf.co/u/x",
  );
  return [chosen.model, ...chosen.parts, ...(chosen.projector === null ? [] : [chosen.projector])].map(
    ({ path }) => path,
  );
};
const without = (...labels: string[]): string[] =>
  REPOSITORY.filter((path) => !labels.some((label) => path.includes(label)) && !path.includes("mmproj"));

describe("chooseFiles()", () => {
  it("chooses Q4_K_M by default, then any Q4, then the first file", () => {
    expect(choose(REPOSITORY)).toEqual(["x-Q4_K_M.gguf", "mmproj-F16.gguf"]);
    expect(choose(without("Q4_K_M", "IQ4"))).toEqual(["x-Q4_0.gguf"]);
    expect(choose(without("Q4"))).toEqual(["BF16/x-BF16-00001-of-00002.gguf", "BF16/x-BF16-00002-of-00002.gguf"]);
  });

  it("chooses a quantization in any case, and all parts of it in order", () => {
    expect(choose(without(), "q8_0")).toEqual(["x-Q8_0.gguf"]);
    expect(choose(without(), "UD-Q2_K_XL")).toEqual(["x-UD-Q2_K_XL.gguf"]);
    expect(choose(without().toReversed(), "bf16")).toEqual([
      "BF16/x-BF16-00001-of-00002.gguf",
      "BF16/x-BF16-00002-of-00002.gguf",
    ]);
  });

  it("chooses the model of a named part", () => {
    const path = "BF16/x-BF16-00002-of-00002.gguf";
    expect(choose(without(), null, path)).toEqual(["BF16/x-BF16-00001-of-00002.gguf", path]);
  });

  it("refuses what is not there, and names what is", () => {
    expect(() => choose(REPOSITORY, "Q3_K_S")).toThrow("hf.co/u/x has no file for Q3_K_S. It has BF16, IQ4_XS, Q4_0,");
    expect(() => choose(REPOSITORY, null, "y.gguf")).toThrow("hf.co/u/x has no y.gguf. It has");
    expect(() => choose(["model.safetensors"])).toThrow("hf.co/u/x has no GGUF file of a model");
    expect(() => choose(["x-00001-of-00003.gguf", "x-00003-of-00003.gguf"])).toThrow("lacks x-00002-of-00003.gguf");
    expect(() => choose(["x-00001-of-00900.gguf"])).toThrow("is one of 900 files; a model may have at most 65");
  });
});

describe("labelOf()", () => {
  it.each([
    ["qwen2.5-7b-instruct-q4_k_m.gguf", "Q4_K_M"],
    ["UD-Q4_K_XL/x-UD-Q4_K_XL-00001-of-00003.gguf", "UD-Q4_K_XL"],
    ["gpt-oss-20b-MXFP4.gguf", "MXFP4"],
    ["tiny.Q8_0.gguf", "Q8_0"],
    ["model.gguf", null],
  ])("returns the quantization of %s", (path, label) => {
    expect(labelOf(path)).toBe(label);
  });
});
