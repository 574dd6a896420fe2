import { describe, expect, it } from "vitest";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { missingPin } from "../../../coordinator/catalog/cargo-pins.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const DECLARED = {
  slug: "declared-qwen3",
  name: "Qwen 3",
  description: "A chat model.",
  category: "llm",
  runtime_type: "engine",
  licence: "Apache-2.0",
  price_per_job: 0.01,
  required_ram_mb: 0,
  required_vram_mb: 0,
  model: { url: "engine:qwen3:8b", sha256: null, size_bytes: null },
  context_tokens: 4_096,
  example_input: { prompt: "Hello" },
};

const errorsOf = (cargo: object): string[] => {
  const read = readCargo({ ...DECLARED, ...cargo });
  return "file" in read ? [] : read.errors.map(({ path, message }) => `${path}: ${message}`);
};

describe("a Cargo of an engine", () => {
  it("may name a declared model, if its slug says so", () => {
    expect(errorsOf({})).toEqual([]);
    expect(errorsOf({ slug: "qwen3" })).toEqual([
      "slug: must begin with declared- if, and only if, the model is engine:NAME",
    ]);
  });

  it("may name a commit of the hub, without declared- in its slug", () => {
    const model = { url: `hf:Qwen/Qwen3-8B#${COMMIT}`, sha256: null, size_bytes: null };
    expect(errorsOf({ slug: "qwen3", model })).toEqual([]);
    expect(errorsOf({ slug: "declared-qwen3", model })).toHaveLength(1);
  });

  it.each(["hf:Qwen/Qwen3-8B", "hf:Qwen/Qwen3-8B#main", "https://models.example/qwen3.gguf"])(
    "refuses %s, which does not prove what an engine runs",
    (url) => {
      const [error] = errorsOf({ slug: "qwen3", model: { url, sha256: null, size_bytes: null } });
      expect(error).toMatch(/^model.url: must be engine:NAME, or hf:owner\/repo#COMMIT/);
    },
  );

  it("needs no further pin for its approval", () => {
    const read = readCargo(DECLARED);
    if (!("file" in read)) throw new Error("the Cargo is invalid");
    expect(missingPin(read.file)).toBeNull();
  });
});

it("readCargo() refuses a declared model for any other runtime", () => {
  expect(errorsOf({ runtime_type: "llmcpp" })).toEqual(["model.url: may be engine:NAME only for engine Cargos"]);
});
