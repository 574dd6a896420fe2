import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { onnxFailure } from "../../../../island-agent/runtimes/onnx/onnx-failure.ts";
import { JobFailure } from "../../../../shared/errors.ts";

const failureOf = (cause: unknown): JobFailure => onnxFailure("model_invalid", "It failed", cause, "/home/me/models/a");

describe("onnxFailure()", () => {
  it("leaves the place of the model and of ONNX Runtime's sources out", () => {
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
  ])("takes %j for want of memory", (message) => {
    expect(failureOf(new Error(message))).toMatchObject({ code: "out_of_memory", retryable: true });
  });

  it("takes no want of memory for what no machine has", () => {
    const failure = failureOf(new Error(`Failed to allocate memory for requested buffer of size ${2 ** 41}`));
    expect(failure).toMatchObject({ code: "model_invalid", retryable: false });
  });

  it("takes errors of the file system for the disk's", async () => {
    const cause: unknown = await readFile("/nowhere/at-all").catch((error: unknown) => error);
    expect(failureOf(cause)).toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("leaves failures that say what they are", () => {
    const failure = new JobFailure("invalid_input", "text: is wrong");
    expect(failureOf(failure)).toBe(failure);
  });
});
