import sharp from "sharp";
import { JobFailure } from "../../../shared/errors.ts";
import type { Image } from "./latent-decoder.ts";

/** As base64 it still fits into one frame (shared/protocol/codec.ts). */
const MAX_PNG_BYTES = 6_000_000;

sharp.concurrency(1);
sharp.cache(false);

/** An image as a PNG file in base64. The same pixels give the same bytes. @throws {JobFailure} `output_too_large` */
export async function encodePng({ width, height, rgb }: Image): Promise<string> {
  const png = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  if (png.length <= MAX_PNG_BYTES) return png.toString("base64");
  const message = `The image of ${width} by ${height} pixels takes ${png.length} bytes as PNG; the limit is ${MAX_PNG_BYTES}`;
  throw new JobFailure("output_too_large", message);
}
