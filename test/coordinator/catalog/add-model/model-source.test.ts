import { describe, expect, it } from "vitest";
import { parseModelSource } from "../../../../coordinator/catalog/add-model/model-source.ts";

const HUB = "https://huggingface.co";
const hub = (more: object) => ({
  kind: "hub",
  repository: "u/x-GGUF",
  revision: null,
  file: null,
  quantization: null,
  ...more,
});
const ollama = (name: string, tag: string, registry = "https://registry.ollama.ai") => ({
  kind: "ollama",
  name,
  tag,
  registry: new URL(registry),
});

describe("parseModelSource()", () => {
  it.each([
    ["hf.co/u/x-GGUF", hub({})],
    ["hf.co/u/x-GGUF:q4_k_m", hub({ quantization: "q4_k_m" })],
    ["hf:u/x-GGUF:Q8_0", hub({ quantization: "Q8_0" })],
    ["https://huggingface.co/u/x-GGUF/", hub({})],
    [
      "https://huggingface.co/u/x-GGUF/resolve/main/BF16/x%20y.gguf?download=true",
      hub({ revision: "main", file: "BF16/x y.gguf" }),
    ],
    ["https://huggingface.co/u/x-GGUF/blob/v1/x.gguf", hub({ revision: "v1", file: "x.gguf" })],
    ["hf:u/x-GGUF/x.gguf#abc", hub({ revision: "abc", file: "x.gguf" })],
    ["ollama:qwen3:8b", ollama("library/qwen3", "8b")],
    ["qwen3:8b", ollama("library/qwen3", "8b")],
    ["qwen3", ollama("library/qwen3", "latest")],
    ["ollama.com/library/qwen3:8b", ollama("library/qwen3", "8b")],
    ["ollama:someone/model", ollama("someone/model", "latest")],
    ["ollama:http://127.0.0.1:5000/library/qwen3:8b", ollama("library/qwen3", "8b", "http://127.0.0.1:5000")],
    ["./x.gguf", { kind: "disk", path: "./x.gguf" }],
    ["x-Q4_K_M.gguf", { kind: "disk", path: "x-Q4_K_M.gguf" }],
    ["/models/x", { kind: "disk", path: "/models/x" }],
  ])("reads %s", (text, source) => {
    expect(parseModelSource(text, HUB)).toEqual(source);
  });

  it("reads an address of the operator's mirror", () => {
    const source = parseModelSource("http://mirror.lan/u/x-GGUF/resolve/main/x.gguf", "http://mirror.lan/");
    expect(source).toEqual(hub({ revision: "main", file: "x.gguf" }));
  });

  it.each([
    "",
    "u/x",
    "https://example.com/x.gguf",
    "hf.co/u",
    "hf:../x",
    "file:///x.gguf",
    "ollama:a/b/c",
    "hf.co/u/x/resolve/main/%E0%A4%A",
  ])("refuses %j, and lists what is possible", (text) => {
    expect(() => parseModelSource(text, HUB)).toThrow("names no model. Give hf.co/USER/REPO[:QUANT], ");
  });
});
