import { describe, expect, it } from "vitest";
import { elementsOf, elementsToJson, TensorError } from "../../../../island-agent/runtimes/onnx/tensor-json.ts";

describe("elementsOf() and elementsToJson()", () => {
  it.each([
    ["float32", [0.5, -1, null]],
    ["float64", [1e300, null]],
    ["bool", [true, false]],
    ["string", ["a", "ü", ""]],
    ["int8", [-128, 127]],
    ["int16", [-32_768, 32_767]],
    ["int32", [-2_147_483_648, 2_147_483_647]],
    ["int64", [1, "-9223372036854775808", "9223372036854775807", 9_007_199_254_740_991]],
    ["uint8", [0, 255]],
    ["uint16", [0, 65_535]],
    ["uint32", [0, 4_294_967_295]],
    ["uint64", ["18446744073709551615", 0]],
  ] as const)("convert %s in both directions without loss", (type, data) => {
    expect(elementsToJson(type, elementsOf(type, data))).toEqual(data);
  });

  it("encode float16 as bits", () => {
    expect(elementsOf("float16", [1, -2, 65_504, null])).toEqual(Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x7e00));
  });

  it("accept 64-bit integers as text, and 1 and 0 as booleans", () => {
    expect(elementsOf("int64", ["12", 3])).toEqual(BigInt64Array.of(12n, 3n));
    expect(elementsOf("bool", [1, 0])).toEqual(Uint8Array.of(1, 0));
  });

  it("return null for infinities", () => {
    expect(elementsToJson("float32", [Infinity, -Infinity, 1])).toEqual([null, null, 1]);
  });

  it.each([
    ["float32", ["1"]],
    ["float32", [true]],
    ["float16", ["1"]],
    ["bool", [2]],
    ["bool", [null]],
    ["string", [1]],
    ["int8", [128]],
    ["int8", [-129]],
    ["uint8", [-1]],
    ["uint8", [1.5]],
    ["uint8", [null]],
    ["int32", ["0x10"]],
    ["int32", [""]],
    ["int64", [9_007_199_254_740_992]],
    ["int64", ["9223372036854775808"]],
    ["uint64", ["-1"]],
  ] as const)("refuse %s %j, and name the element", (type, data) => {
    const wrong = (): unknown => elementsOf(type, data);
    expect(wrong).toThrow(TensorError);
    expect(wrong).toThrow("data.0: must be");
  });
});
