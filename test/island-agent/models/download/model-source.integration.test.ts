import { describe, expect, it } from "vitest";
import { resolveFetchPolicy } from "../../../../island-agent/models/download/fetch-policy.ts";
import { hubFileUrl, parseModelSource } from "../../../../island-agent/models/download/model-source.ts";

const policy = resolveFetchPolicy({ coordinatorUrl: "http://coordinator.example:4000/atoll/" });

describe("parseModelSource()", () => {
  it.each([
    ["hf:o/r/dir/a.gguf", "https://huggingface.co/o/r/resolve/main/dir/a.gguf?download=true", "gguf"],
    ["hf:o/r/a.gguf#refs/pr/1", "https://huggingface.co/o/r/resolve/refs%2Fpr%2F1/a.gguf?download=true", "gguf"],
    ["hf:o/r:a.gguf", "https://huggingface.co/o/r/resolve/main/a.gguf?download=true", "gguf"],
    ["hf:o/r:onnx/model.onnx#v2", "https://huggingface.co/o/r/resolve/v2/onnx/model.onnx?download=true", "onnx"],
    ["hf:o/r:a b?.gguf", "https://huggingface.co/o/r/resolve/main/a%20b%3F.gguf?download=true", "gguf"],
    ["https://files.example/x.GGUF?sig=1", "https://files.example/x.GGUF?sig=1", "gguf"],
    ["https://files.example/model", "https://files.example/model", ""],
    ["/models/a.gguf", "http://coordinator.example:4000/atoll/models/a.gguf", "gguf"],
    ["http://coordinator.example:4000/atoll/models/a", "http://coordinator.example:4000/atoll/models/a", ""],
  ])("reads %s as a file", (text, url, extension) => {
    expect(parseModelSource(text, policy)).toEqual({ kind: "file", url: new URL(url), extension });
  });

  it.each([
    ["hf:o/r", "latest"],
    ["hf:o/r:Q4_K_M", "Q4_K_M"],
    ["hf:o/r:UD-Q4_K_XL", "UD-Q4_K_XL"],
  ])("reads %s as a quantization to look up", (text, tag) => {
    expect(parseModelSource(text, policy)).toEqual({ kind: "hub-tag", repository: "o/r", tag, extension: "gguf" });
  });

  it.each([
    ["http://other.example/a.gguf", "uses http"],
    ["http://coordinator.example:4001/models/a.gguf", "uses http"],
    ["ftp://other.example/a.gguf", "uses ftp:"],
    ["file:///etc/passwd", "uses file:"],
    ["https://user:secret@files.example/a.gguf", "credentials"],
    ["a.gguf", "is not a URL"],
    ["/etc/passwd", "not below /models/"],
    ["/models/../api/v1/account", "not below /models/"],
    ["/models/%2e%2e/api", "not below /models/"],
    ["//evil.example/models/a.gguf", "not below /models/"],
    ["hf:o", "must name a repository as hf:owner/repo"],
    ["hf:../r/a.gguf", "must name a repository as hf:owner/repo"],
    ["hf:o/r/../../x.gguf", "does not name a file"],
    ["hf:o/r:", "does not name a file"],
    ["hf:o/r/", "does not name a file"],
    ["hf:o/r#main", "needs a file"],
    ["hf:o/r/a.gguf#", "invalid revision"],
  ])("refuses %s for every Island", (text, why) => {
    const refused = expect.objectContaining({
      code: "model_invalid",
      retryable: false,
      message: expect.stringContaining(why) as string,
    }) as Error;
    expect(() => parseModelSource(text, policy)).toThrow(refused);
  });

  it("refuses a coordinator's path when no coordinator is set", () => {
    expect(() => parseModelSource("/models/a.gguf", resolveFetchPolicy({}))).toThrow("no coordinator is set");
  });
});

describe("hubFileUrl()", () => {
  it("refuses a path from the hub that leaves the repository", () => {
    expect(() => hubFileUrl(policy, "o/r", "../../x/y/resolve/main/a.gguf", "main")).toThrow("does not name a file");
  });
});

describe("resolveFetchPolicy()", () => {
  it("names the invalid address", () => {
    expect(() => resolveFetchPolicy({ hubEndpoint: "hub" })).toThrow(
      'hub endpoint: must be an http or https URL, got "hub"',
    );
  });
});
