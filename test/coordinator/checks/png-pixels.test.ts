import sharp, { type PngOptions } from "sharp";
import { expect, it } from "vitest";
import { decodePng } from "../../../coordinator/checks/png-pixels.ts";
import { seededRandom } from "../audits/made-readings.ts";

const random = seededRandom(3);

/** Returns pixels of a smooth image with some noise, for which encoders choose all filters. */
const paint = (width: number, height: number, channels: 1 | 2 | 3 | 4): Uint8Array =>
  Uint8Array.from({ length: width * height * channels }, (_, at) => (at / 7 + at / width + 9 * random()) % 256);

function encode(pixels: Uint8Array, width: number, channels: 1 | 2 | 3 | 4, options: PngOptions = {}) {
  const height = pixels.length / width / channels;
  return sharp(pixels, { raw: { width, height, channels } })
    .toColourspace(channels < 3 ? "b-w" : "srgb")
    .png(options)
    .toBuffer();
}

it.each([1, 2, 3, 4] as const)("decodes the pixels of a PNG with %i channels", async (channels) => {
  const pixels = paint(61, 40, channels);
  for (const adaptiveFiltering of [false, true]) {
    const png = await encode(pixels, 61, channels, { adaptiveFiltering });
    expect(decodePng(png.toString("base64"), () => undefined)).toEqual({
      width: 61,
      height: 40,
      channels,
      bytes: pixels,
    });
  }
});

it("says how much it is going to decode before it does, so that a limit stops it", async () => {
  const png = (await encode(paint(61, 40, 3), 61, 3)).toString("base64");
  const spent: number[] = [];
  const stop = (bytes: number): never => {
    spent.push(bytes);
    throw new Error("The limit is reached");
  };
  expect(() => decodePng(png, stop)).toThrow("The limit is reached");
  // Each row has a byte for its filter.
  expect(spent).toEqual([(61 * 3 + 1) * 40]);
});

it("refuses other files, other forms of PNG, and damaged or huge files", async () => {
  const png = await encode(paint(32, 32, 3), 32, 3);
  const huge = Buffer.from(png);
  huge.writeUInt32BE(60_000, 16);
  huge.writeUInt32BE(60_000, 20);
  const taller = Buffer.from(png);
  taller.writeUInt32BE(33, 20);
  const wrongFilter = await encode(paint(8, 8, 1), 8, 1, { compressionLevel: 0 });
  wrongFilter[wrongFilter.indexOf("IDAT") + 11] = 9;
  const files = [
    Buffer.alloc(0),
    Buffer.from("no image"),
    png.subarray(0, 60),
    await encode(paint(32, 32, 3), 32, 3, { progressive: true }),
    await encode(paint(32, 32, 3), 32, 3, { palette: true }),
    huge,
    taller,
    wrongFilter,
  ];
  expect(files.map((file) => decodePng(file.toString("base64"), () => undefined))).toEqual(files.map(() => null));
});
