import { Packr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { ProtocolError, readFromIsland } from "../../shared/protocol/codec.ts";
import { hasTooManyValues } from "../../shared/protocol/frame-values.ts";

const packr = new Packr({ useRecords: false, mapsAsObjects: true, variableMapSize: true });
const EMPTY_MAP = 0x80;
const ONE = 0x01;

/** Returns an array of values of one byte each. */
function arrayOf(byte: number, count: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0xdd;
  head.writeUInt32BE(count, 1);
  return Buffer.concat([head, Buffer.alloc(count, byte)]);
}

describe("hasTooManyValues()", () => {
  it("counts values, and maps and arrays among them", () => {
    expect(hasTooManyValues(arrayOf(ONE, 2_099_999))).toBe(false);
    expect(hasTooManyValues(arrayOf(ONE, 2_100_000))).toBe(true);
    expect(hasTooManyValues(arrayOf(EMPTY_MAP, 499_999))).toBe(false);
    expect(hasTooManyValues(arrayOf(EMPTY_MAP, 500_000))).toBe(true);
  });

  it("counts the different keys of maps", () => {
    const map = (from: number, count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${from + index}`, from]));
    const nested = (last: number) => packr.pack({ a: [map(0, 10_000), { b: map(10_000, last) }], c: map(0, 5_000) });
    expect(hasTooManyValues(nested(9_997))).toBe(false);
    expect(hasTooManyValues(nested(9_998))).toBe(true);
    // A few keys, repeated.
    expect(hasTooManyValues(packr.pack(Array.from({ length: 50_000 }, () => ({ label: "a", score: 1 }))))).toBe(false);
  });

  it("does not count the content of a value of any format as values", () => {
    // If the bytes of each value were interpreted as maps, they would be too many.
    const bytes = Buffer.alloc(600_000, EMPTY_MAP);
    const text = "\u0080".repeat(600_000);
    const numbers = [1e300, 0.5, -1, -200, -70_000, 200, 70_000, 5_000_000_000n, -5_000_000_000n];
    const texts = ["a".repeat(20), "a".repeat(200), "a".repeat(70_000), text];
    const others = [null, true, new Date(0), new Date(1), Buffer.alloc(300), Buffer.alloc(3), bytes];
    const long = { list: Array.from({ length: 70_000 }, () => 1), map: Object.fromEntries(numbers.entries()) };
    const frame = packr.pack([numbers, texts, others, long]);
    expect(hasTooManyValues(frame)).toBe(false);
    // The following values are counted exactly if the count is correct so far.
    const rest = arrayOf(EMPTY_MAP, 500_000);
    expect(hasTooManyValues(Buffer.concat([frame, rest]))).toBe(true);
    expect(hasTooManyValues(Buffer.concat([frame, packr.pack(bytes), packr.pack(text)]))).toBe(false);
  });

  it("stops at the end of bytes that are not MessagePack", () => {
    expect(hasTooManyValues(Buffer.alloc(70_000, 0xc6))).toBe(false);
    expect(hasTooManyValues(Buffer.alloc(70_000, 0xdf))).toBe(false);
  });

  it("prevents a frame with too many values from being unpacked", () => {
    expect(() => readFromIsland(arrayOf(EMPTY_MAP, 8_000_000))).toThrow(
      new ProtocolError("frame contains too many values"),
    );
  });
});
