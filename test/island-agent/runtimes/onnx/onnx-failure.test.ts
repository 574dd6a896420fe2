import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { onnxFailure } from "../../../../island-agent/runtimes/onnx/onnx-failure.ts";
import { JobFailure } from "../../../../shared/errors.ts";

const failureOf = (cause: unknown): JobFailure => onnxFailure("model_invalid", "It failed", cause, "/home/me/models/a");

describe("onnxFailure()", () => {
  it("omits the paths of the model and of ONNX Runtime's sources from the message", () => {
    const cause = new Error("/onnxruntime_src/core/a.cc:12 no /home/me/models/a/config.json in /home/me/models/a");
    expect(failureOf(cause)).toMatchObject({
      code: "model_invalid",
      retryable: false,
      message: "It failed: no config.json in the model",
    });
  });

  it.each([
    "std::bad_alloc",
    "a.cc:360 Failed to allocate memory for requested buffer of size 9",
    "Array buffer allocation failed",
  ])("reports %j as out of memory", (message) => {
    expect(failureOf(new Error(message))).toMatchObject({ code: "out_of_memory", retryable: true });
  });

  it("reports an allocation larger than the memory of any machine as the model's failure", () => {
    const failure = failureOf(new Error(`Failed to allocate memory for requested buffer of size ${2 ** 41}`));
    expect(failure).toMatchObject({ code: "model_invalid", retryable: false });
  });

  it("reports file system errors as retryable", async () => {
    const cause: unknown = await readFile("/nowhere/at-all").catch((error: unknown) => error);
    expect(failureOf(cause)).toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("returns a JobFailure unchanged", () => {
    const failure = new JobFailure("invalid_input", "text: is wrong");
    expect(failureOf(failure)).toBe(failure);
  });
});
