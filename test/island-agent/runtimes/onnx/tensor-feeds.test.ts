import { describe, expect, it } from "vitest";
import { readFeeds, slotsOf } from "../../../../island-agent/runtimes/onnx/tensor-feeds.ts";
import type { TensorJson } from "../../../../shared/onnx-task.ts";

const SLOTS = slotsOf([
  { name: "x", isTensor: true, type: "float32", shape: ["rows", 2] },
  { name: "k", isTensor: true, type: "int64", shape: [] },
]);
const x: TensorJson = { type: "float32", dims: [1, 2], data: [1, 2] };
const k: TensorJson = { type: "int64", dims: [], data: [7] };

describe("slotsOf()", () => {
  it("refuses graphs whose values have no JSON form", () => {
    const int4 = { name: "w", isTensor: true, type: "int4", shape: [2] } as const;
    expect(() => slotsOf([int4])).toThrow("w of the model is a tensor of int4, which a job cannot carry");
    expect(() => slotsOf([{ name: "s", isTensor: false }])).toThrow(
      "s of the model is not a tensor, which a job cannot carry",
    );
  });
});

describe("readFeeds()", () => {
  it("does not repeat a name of the client in its message", () => {
    expect(() => readFeeds(SLOTS, { inputs: { x, k, "a secret": k } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("secret") }),
    );
  });

  it("returns a tensor for each input, including scalars", () => {
    expect(readFeeds(SLOTS, { inputs: { k, x } })).toEqual([
      { name: "x", type: "float32", dims: [1, 2], data: Float32Array.of(1, 2) },
      { name: "k", type: "int64", dims: [], data: BigInt64Array.of(7n) },
    ]);
  });

  it("accepts any size, including 0, if the graph names none", () => {
    const none = { ...x, dims: [0, 2], data: [] };
    expect(readFeeds(SLOTS, { inputs: { x: none, k } })[0]).toMatchObject({ dims: [0, 2] });
  });

  it.each<[string, Record<string, TensorJson>, string]>([
    ["a missing input", { x }, "inputs.k: is missing; expected int64 []"],
    ["an unknown input", { x, k, z: k }, "inputs: 1 of the names are not inputs of the model. Its inputs are x, k"],
    [
      "a name of Object.prototype",
      { x, k, toString: k },
      "inputs: 1 of the names are not inputs of the model. Its inputs are x, k",
    ],
    ["another type", { x: { ...x, type: "float64" }, k }, "inputs.x: must be float32 [rows, 2], got the type float64"],
    ["another rank", { x: { ...x, dims: [2] }, k }, "inputs.x: must be float32 [rows, 2], got the dimensions [2]"],
    [
      "another size",
      { x: { ...x, dims: [2, 1] }, k },
      "inputs.x: must be float32 [rows, 2], got the dimensions [2, 1]",
    ],
    [
      "more dimensions than the message lists",
      { x: { ...x, dims: Array.from({ length: 9 }, () => 1) }, k },
      "inputs.x: must be float32 [rows, 2], got the dimensions [1, 1, 1, 1, 1, 1, 1, 1, …]",
    ],
    ["too few elements", { x: { ...x, data: [1] }, k }, "inputs.x: has 1 elements, but its dimensions require 2"],
    [
      "dimensions whose product is too large",
      { x: { ...x, dims: [2 ** 52, 2] }, k },
      "inputs.x: has 2 elements, but its dimensions require 9007199254740992",
    ],
    ["an element that does not fit", { x: { ...x, data: [1, "a"] }, k }, "inputs.x.data.1: must be a number or null"],
  ])("refuses %s", (_name, inputs, message) => {
    expect(() => readFeeds(SLOTS, { inputs })).toThrow(
      expect.objectContaining({ code: "invalid_input", retryable: false }),
    );
    expect(() => readFeeds(SLOTS, { inputs })).toThrow(message);
  });
});
