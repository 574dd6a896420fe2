import { describe, expect, it } from "vitest";
import { dataUrlOf, imageBytesOf, imageProblem } from "../../shared/chat-images.ts";
import { encodePng } from "../support/models/test-images.ts";

const PNG = encodePng(32, 16, []);
const bytesOf = (text: string, ...rest: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(text, "latin1"), Buffer.from(rest)]);
/** A frame header after a segment of 4 bytes. */
const jpeg = (width: number, height: number): Buffer => {
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  return Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc2, 0, 17, 8, ...size, 3]);
};
const gif = (width: number, height: number): Buffer =>
  bytesOf("GIF89a", width & 255, width >> 8, height & 255, height >> 8);
const webp = (form: string, ...rest: readonly number[]): Buffer =>
  Buffer.concat([bytesOf(`RIFF\0\0\0\0WEBP${form}`, 0, 0, 0, 0), Buffer.from(rest), Buffer.alloc(16)]);
const LARGE = /has \d+ x \d+ pixels/;

describe("imageProblem()", () => {
  it.each([
    ["PNG", PNG],
    ["JPEG", jpeg(640, 480)],
    ["GIF", gif(640, 480)],
    ["WebP with losses", webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1)],
    ["WebP without losses", webp("VP8L", 0x2f, 0x7f, 0xc2, 0x77, 0)],
    ["extended WebP", webp("VP8X", 0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0)],
  ])("accepts a %s image", (_format, bytes) => {
    expect(imageProblem(bytes)).toBeNull();
  });
  it.each([
    ["text", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ["nothing", Buffer.alloc(0)],
    ["a sound", bytesOf("RIFF\0\0\0\0WAVEfmt ", 0)],
  ])("refuses %s", (_what, bytes) => {
    expect(imageProblem(bytes)).toMatch(/^must be a PNG, JPEG, WebP or GIF image/);
  });
  it.each([
    ["PNG", PNG.subarray(0, 20)],
    ["JPEG", jpeg(640, 480).subarray(0, 12)],
    ["WebP", webp("VP8X").subarray(0, 24)],
  ])("refuses a %s image that is cut off before its size", (_format, bytes) => {
    expect(imageProblem(bytes)).toMatch(/^is not a whole image/);
  });
  it.each([
    ["PNG", encodePng(1, 1, []).fill(0x7f, 16, 24)],
    ["JPEG", jpeg(65_535, 65_535)],
    ["GIF", gif(65_535, 65_535)],
    ["WebP", webp("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0, 0xff, 0xff, 0)],
  ])("refuses a %s image of too many pixels, which its decoder would have to keep", (_format, bytes) => {
    expect(imageProblem(bytes)).toMatch(LARGE);
  });
  it("ends at a JPEG segment without a length", () => {
    expect(imageProblem(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0]))).toMatch(/^is not a whole/);
  });
});

describe("imageBytesOf()", () => {
  it("returns the bytes of a data URL, whatever image type it names", () => {
    expect(imageBytesOf(`data:image/jpg;base64,${PNG.toString("base64")}`)).toEqual(PNG);
  });
  it("accepts base64 without padding", () => {
    const padded = Buffer.concat([PNG, Buffer.alloc(3 - (PNG.length % 3) + 1)]).toString("base64");
    expect(padded).toMatch(/=$/);
    expect(imageBytesOf(`data:image/png;base64,${padded.replace(/=+$/, "")}`)).toHaveLength(
      Buffer.from(padded, "base64").length,
    );
  });
  it.each([
    "data:image/png;base64,",
    "data:image/png;base64,a b=",
    "data:image/png,abc",
    "data:text/plain;base64,YQ==",
  ])("returns null for %s", (url) => {
    expect(imageBytesOf(url)).toBeNull();
  });
});

it("dataUrlOf() names the type that the bytes have", () => {
  expect(dataUrlOf(gif(1, 1))).toMatch(/^data:image\/gif;base64,/);
});
