import { crc32, deflateSync } from "node:zlib";

/**
 * Images that the vision models under test/fixtures/onnx recognize: boxes on black. Source: tools/models/box_images.py.
 */

const COLOURS = { red: [255, 40, 40], green: [40, 255, 40], blue: [40, 40, 255], white: [255, 255, 255] } as const;
export type BoxColour = keyof typeof COLOURS;

/** Edges in pixels. `right` and `bottom` are exclusive. */
export interface PaintedBox {
  readonly colour: BoxColour;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Returns RGB pixels, row by row. */
export function paintBoxes(
  width: number,
  height: number,
  boxes: readonly PaintedBox[],
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(width * height * 3);
  for (const { colour, left, top, right, bottom } of boxes)
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) pixels.set(COLOURS[colour], (y * width + x) * 3);
  return pixels;
}

/**
 * Encodes the boxes of {@link paintBoxes} as a PNG file: 8 bits, RGB, no filter. Layout: https://www.w3.org/TR/png-3/,
 * §5 and §11.
 */
export function encodePng(width: number, height: number, boxes: readonly PaintedBox[]): Buffer {
  const pixels = paintBoxes(width, height, boxes);
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++)
    rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (1 + width * 3) + 1);
  const header = Buffer.from([...uint32(width), ...uint32(height), 8, 2, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(rows);
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", data),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
