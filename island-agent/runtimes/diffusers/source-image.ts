import sharp, { type Sharp } from "sharp";
import { JobFailure } from "../../../shared/errors.ts";
import type { Size } from "./size.ts";
import { VAE_SCALE_FACTOR } from "./latent-decoder.ts";

/** Maximum image size, 4096 by 4096. Without a limit, a small file may decode to gigabytes. */
const MAX_PIXELS = 16_777_216;
const COLOURS = 3;
const HALF = 128;

/** Image that a job paints over. */
interface SourceImage {
  /** Planes of red, green and blue, -1 to 1, in the size of the image to generate. */
  readonly pixels: Float32Array;
  /** Value per pixel: 1 to paint, 0 to keep. If null, the whole image is painted. */
  readonly mask: Float32Array | null;
}

/** Decodes image and mask, scaled to cover `size` and cropped to the center. @throws {JobFailure} `invalid_input` */
export async function readSource(image: string, mask: string | undefined, size: Size): Promise<SourceImage> {
  return {
    pixels: await decode("image", image, (file) => readPixels(file, size)),
    mask: mask === undefined ? null : await decode("mask_image", mask, (file) => readMask(file, size)),
  };
}

/** Returns the mask in the size of latents, with the value of the upper left pixel of each, as in diffusers. */
export function shrinkMask(mask: Float32Array, { width, height }: Size): Float32Array {
  const pixelsPerRow = width * VAE_SCALE_FACTOR;
  return Float32Array.from({ length: width * height }, (_, cell) => {
    const row = Math.floor(cell / width) * VAE_SCALE_FACTOR;
    return mask[row * pixelsPerRow + (cell % width) * VAE_SCALE_FACTOR] ?? 0;
  });
}

/** Returns the pixels with grey in the area to paint, as an input of inpainting networks. */
export function maskImage({ pixels, mask }: SourceImage): Float32Array {
  if (mask === null) return pixels;
  return pixels.map((value, i) => ((mask[i % mask.length] ?? 0) > 0 ? 0 : value));
}

async function readPixels(file: Buffer, { width, height }: Size): Promise<Float32Array> {
  const { data, info } = await open(file)
    .resize(width, height, { fit: "cover" })
    .flatten({ background: "white" })
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== COLOURS) throw new Error(`it has ${info.channels} channels instead of 3`);
  const plane = width * height;
  return Float32Array.from({ length: COLOURS * plane }, (_, i) => {
    const [colour, pixel] = [Math.floor(i / plane), i % plane];
    return (data[pixel * COLOURS + colour] ?? 0) / 127.5 - 1;
  });
}

/** Reads a mask. If it has transparent pixels, these are painted; otherwise the white ones are. */
async function readMask(file: Buffer, { width, height }: Size): Promise<Float32Array> {
  const resized = (): Sharp => open(file).resize(width, height, { fit: "cover" });
  const { hasAlpha } = await sharp(file).metadata();
  const alpha = hasAlpha ? await resized().extractChannel("alpha").raw({ depth: "uchar" }).toBuffer() : null;
  if (alpha?.some((value) => value < HALF) === true) {
    return Float32Array.from(alpha, (value) => (value < HALF ? 1 : 0));
  }
  const grey = await resized().flatten().toColourspace("b-w").extractChannel(0).raw({ depth: "uchar" }).toBuffer();
  return Float32Array.from(grey, (value) => (value < HALF ? 0 : 1));
}

function open(file: Buffer): Sharp {
  sharp.concurrency(1);
  return sharp(file, { limitInputPixels: MAX_PIXELS }).autoOrient();
}

async function decode(
  field: string,
  base64: string,
  read: (file: Buffer) => Promise<Float32Array>,
): Promise<Float32Array> {
  try {
    return await read(Buffer.from(base64, "base64"));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("invalid_input", `${field}: cannot be decoded: ${why}`, { cause });
  }
}
