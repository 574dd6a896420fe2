import { RawImage } from "@huggingface/transformers";
import sharp from "sharp";
import { JobFailure } from "../../../../shared/errors.ts";

/** Maximum image size, 4096 by 4096. Without a limit, a small file may decode to gigabytes. */
const MAX_PIXELS = 16_777_216;
/** Maximum aspect ratio. Models scale up the shorter side, so a line of pixels would become gigabytes. */
const MAX_ASPECT = 50;

sharp.concurrency(1);
sharp.cache(false);

/**
 * Decodes a PNG, JPEG or WebP file to 8-bit RGB: rotated by EXIF, on white where it is transparent.
 * @throws {JobFailure} `invalid_input`
 */
export async function decodeImage(base64: string): Promise<RawImage> {
  try {
    const { data, info } = await sharp(Buffer.from(base64, "base64"), { limitInputPixels: MAX_PIXELS })
      .autoOrient()
      .flatten({ background: "white" })
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    if (Math.max(width, height) > MAX_ASPECT * Math.min(width, height)) {
      throw new Error(`the aspect ratio of ${width} by ${height} pixels exceeds ${MAX_ASPECT} to 1`);
    }
    if (channels !== 3) throw new Error(`it has ${channels} channels instead of 3`);
    return new RawImage(new Uint8ClampedArray(data), width, height, channels);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("invalid_input", `image: cannot be decoded: ${why}`, { cause });
  }
}

/** Encodes an image of one channel as a PNG file in base64. */
export async function encodeGrayscalePng({ data, width, height, channels }: RawImage): Promise<string> {
  const png = await sharp(data, { raw: { width, height, channels } }).toColourspace("b-w").png().toBuffer();
  return png.toString("base64");
}
