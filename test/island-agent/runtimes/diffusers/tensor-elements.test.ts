import { describe, expect, it } from "vitest";
import { readElements, writeElements } from "../../../../island-agent/runtimes/diffusers/tensor-elements.ts";

describe("writeElements()", () => {
  it("writes float16 as bits (IEEE 754)", () => {
    const bits = writeElements("float16", Float32Array.of(1, -2, 65_504, 1e9, 0));
    expect(Array.from(bits as Uint16Array, (half) => half.toString(16))).toEqual(["3c00", "c000", "7bff", "7c00", "0"]);
  });
  it("rounds to integers if the graph requires them", () => {
    expect(writeElements("int64", [980.6, 3])).toEqual(BigInt64Array.of(981n, 3n));
    expect(writeElements("int32", [980.4])).toEqual(Int32Array.of(980));
  });
  it("returns null for strings", () => {
    expect(writeElements("string", [1])).toBeNull();
  });
});

describe("readElements()", () => {
  it("reads float16 from bits at any offset", () => {
    const bits = Uint16Array.of(0, 0x3c00, 0xc000, 0x7c00).subarray(1);
    expect([...readElements(bits)]).toEqual([1, -2, Infinity]);
  });
  it("reads float16 numbers and 64-bit integers", () => {
    expect([...readElements(Float16Array.of(0.5))]).toEqual([0.5]);
    expect([...readElements(BigInt64Array.of(-3n))]).toEqual([-3]);
  });
});
