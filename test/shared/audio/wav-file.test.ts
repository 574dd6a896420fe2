import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWav, WavError, wavSeconds, writeWav } from "../../../shared/audio/wav-file.ts";
import { buildWav } from "./wav-builder.ts";

const bytesOf = (...arrays: ArrayBufferView[]): Buffer =>
  Buffer.concat(arrays.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)));
const samplesOf = (file: Uint8Array): number[] => [...readWav(file).samples];

describe("readWav()", () => {
  it.each([
    ["8-bit PCM", 1, 8, Uint8Array.of(0, 64, 128, 192)],
    ["16-bit PCM", 1, 16, Int16Array.of(-32_768, -16_384, 0, 16_384)],
    ["24-bit PCM", 1, 24, Uint8Array.of(0, 0, 0x80, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0x40)],
    ["32-bit PCM", 1, 32, Int32Array.of(-2_147_483_648, -1_073_741_824, 0, 1_073_741_824)],
    ["32-bit float", 3, 32, Float32Array.of(-1, -0.5, 0, 0.5)],
    ["64-bit float", 3, 64, Float64Array.of(-1, -0.5, 0, 0.5)],
  ])("reads %s", (_name, format, bits, data) => {
    expect(samplesOf(buildWav({ format, bits, data: bytesOf(data) }))).toEqual([-1, -0.5, 0, 0.5]);
  });

  it("mixes all channels to one", () => {
    const data = bytesOf(Int16Array.of(16_384, 0, -16_384, -16_384));
    expect(samplesOf(buildWav({ bits: 16, channels: 2, data }))).toEqual([0.25, -0.5]);
  });

  it("finds the format of an extensible file, and skips unknown chunks", () => {
    const before = [{ name: "LIST", data: Uint8Array.of(1, 2, 3) }];
    const data = bytesOf(Float32Array.of(0.5));
    expect(samplesOf(buildWav({ format: 0xfffe, subFormat: 3, bits: 32, data, before }))).toEqual([0.5]);
  });

  it("returns the sample rate", () => {
    expect(readWav(buildWav({ bits: 16, rateHz: 44_100, data: bytesOf(Int16Array.of(0)) })).sampleRateHz).toBe(44_100);
  });

  it("stops at the end of the file if a chunk claims more, and drops an incomplete sample", () => {
    const data = Uint8Array.of(0, 0x40, 0);
    expect(samplesOf(buildWav({ bits: 16, data, claimedBytes: 0xffff_ffff }).subarray(0, -1))).toEqual([0.5]);
  });

  it("reads NaN as silence, and limits floats to -1..1", () => {
    const data = bytesOf(Float32Array.of(NaN, 7, -Infinity));
    expect(samplesOf(buildWav({ format: 3, bits: 32, data }))).toEqual([0, 1, -1]);
  });

  it("returns no samples for an empty file", () => {
    expect(samplesOf(buildWav({ bits: 16, data: new Uint8Array(0) }))).toEqual([]);
  });

  const data = new Uint8Array(8);
  it.each([
    ["no bytes", Buffer.alloc(0), "is not a WAV file"],
    ["another RIFF file", Buffer.from("RIFF\0\0\0\0WEBPVP8 "), "is not a WAV file"],
    ["a truncated header", buildWav({ bits: 16, data }).subarray(0, 16), "does not contain samples"],
    ["a truncated format chunk", buildWav({ bits: 16, data }).subarray(0, 30), "has a truncated format chunk"],
    ["mu-law", buildWav({ format: 7, bits: 8, data }), "contains samples of format 7 with 8 bits"],
    ["12-bit PCM", buildWav({ bits: 12, data }), "contains samples of format 1 with 12 bits"],
    ["no channel", buildWav({ bits: 16, channels: 0, data }), "has 0 channels"],
    ["65,535 channels", buildWav({ bits: 16, channels: 65_535, data }), "has 65535 channels"],
    ["one sample a second", buildWav({ bits: 16, rateHz: 1, data }), "has 1 samples a second"],
    [
      "4 billion samples a second",
      buildWav({ bits: 8, rateHz: 4_294_967_295, data }),
      "has 4294967295 samples a second",
    ],
  ])("rejects %s", (_name, file, message) => {
    expect(() => readWav(file)).toThrow(WavError);
    expect(() => readWav(file)).toThrow(message);
  });

  it("rejects samples before their format", () => {
    const file = buildWav({ bits: 16, data, before: [{ name: "data", data }] });
    expect(() => readWav(file)).toThrow("has its samples before the chunk that states their format");
  });

  it("terminates for any bytes, with samples or a WavError", () => {
    const valid = buildWav({ bits: 16, data: new Uint8Array(32) });
    fc.assert(
      fc.property(fc.nat(valid.length), fc.uint8Array({ maxLength: 24 }), (at, noise) => {
        const file = Buffer.from(valid);
        file.set(noise.subarray(0, Math.max(0, file.length - at)), at);
        try {
          expect(readWav(file).samples.length).toBeLessThanOrEqual(file.length);
        } catch (error) {
          expect(error).toBeInstanceOf(WavError);
        }
      }),
    );
  });
});

describe("writeWav()", () => {
  it("writes what readWav() reads, with 16 bits", () => {
    const samples = Float32Array.of(0, 0.25, -0.25, 1, -1, 3);
    const read = readWav(writeWav({ samples, sampleRateHz: 22_050 }));
    expect(read.sampleRateHz).toBe(22_050);
    for (const [i, sample] of [0, 0.25, -0.25, 1, -1, 1].entries()) expect(read.samples[i]).toBeCloseTo(sample, 3);
  });
});

describe("wavSeconds()", () => {
  it("returns the duration of a file from its header", () => {
    const file = writeWav({ sampleRateHz: 8_000, samples: new Float32Array(20_000) });
    expect(wavSeconds(file.subarray(0, 100), file.length)).toBe(2.5);
    // Neither truncated data nor data after the samples counts.
    expect(wavSeconds(file.subarray(0, 100), 44 + 16_000)).toBe(1);
    expect(wavSeconds(file.subarray(0, 100), file.length + 1_000)).toBe(2.5);
    expect(() => wavSeconds(file.subarray(0, 40), file.length)).toThrow(WavError);
  });
});
